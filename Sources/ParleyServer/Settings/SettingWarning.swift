import HTTP
import HTTPTransport

/// What is allowed and seldom meant: `check-config` and the start tell of it and go on.
struct SettingWarning: Sendable {
    /// A sentence that names the settings and what to do.
    let text: @Sendable (Settings) -> String
    let applies: @Sendable (Settings) -> Bool

    /// Those that apply.
    static func all(in settings: Settings) -> [String] {
        table.filter { warning in warning.applies(settings) }.map { $0.text(settings) }
    }

    private static let table: [SettingWarning] = [
        SettingWarning(
            text: { settings in
                """
                http.trusted_proxies is set and public_url is not: URLs in webhooks, events and exports begin with \
                \(settings.base); set public_url to the URL that clients use
                """
            },
            applies: { settings in
                !settings.http.trust.proxies.isEmpty && settings.publicURL == nil
            }),
        SettingWarning(
            text: { settings in
                """
                http.listen has Unix sockets only and public_url is not set: URLs begin with \(settings.base); \
                set public_url to the URL that clients use
                """
            },
            applies: { settings in
                settings.publicURL == nil && settings.tls.addresses.isEmpty
                    && settings.http.trust.proxies.isEmpty
                    && settings.http.addresses.allSatisfy { address in
                        if case .unix(path: _) = address { true } else { false }
                    }
            }),
        SettingWarning(
            text: { _ in
                """
                public_url begins with https://, and neither tls.listen nor http.trusted_proxies is set: \
                something in front of this server has to speak TLS
                """
            },
            applies: { settings in
                settings.publicURL?.hasPrefix("https://") == true && settings.tls.addresses.isEmpty
                    && settings.http.trust.proxies.isEmpty
            }),
    ]
}
