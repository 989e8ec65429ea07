import Console
import HTTP
import HTTPTransport
import PlatformAPI
import Uploads

/// A rule about several settings that are each valid alone (http §25).
struct SettingConflict: Sendable {
    /// The settings of the rule; the first is reported if all have their defaults.
    let keys: [String]
    /// The rule, as a sentence.
    let rule: String
    let holds: @Sendable (Settings) -> Bool

    static let all: [SettingConflict] = [
        SettingConflict(
            keys: ["http.max_header_line", "http.max_header_bytes"],
            rule: "http.max_header_line must not be above http.max_header_bytes"
        ) { settings in settings.http.head.fieldLine <= settings.http.head.fieldSection },
        SettingConflict(
            keys: ["http.body_idle_timeout", "http.request_timeout"],
            rule: "http.body_idle_timeout must not be above http.request_timeout"
        ) { settings in settings.http.bodyIdleTimeout <= settings.http.requestTimeout },
        SettingConflict(
            keys: ["http.handler_timeout", "http.request_timeout"],
            rule:
                "http.handler_timeout must not be above http.request_timeout, which ends the request first"
        ) { settings in settings.http.handlerTimeout <= settings.http.requestTimeout },
        SettingConflict(
            keys: ["http.queue_timeout", "http.request_timeout"],
            rule:
                "http.queue_timeout must not be above http.request_timeout, which ends the request first"
        ) { settings in settings.http.queueTimeout <= settings.http.requestTimeout },
        SettingConflict(
            keys: ["http.allowed_hosts", "public_url"],
            rule:
                "http.allowed_hosts must name the host of public_url: requests to the URLs in answers would be refused"
        ) { settings in
            let hosts = settings.http.head.allowedHosts.map { host in host.lowercased() }
            guard !hosts.isEmpty, settings.http.trust.proxies.isEmpty,
                let host = settings.publicURL.flatMap(Settings.host(of:))
            else { return true }
            return hosts.contains(host)
        },
        SettingConflict(
            keys: [
                "metrics.listen", "console.listen", "tls.redirect_listen", "tls.listen",
                "http.listen",
            ],
            rule:
                "http.listen, tls.listen, console.listen, metrics.listen and tls.redirect_listen must not share an address; 0.0.0.0 and [::] are all addresses"
        ) { settings in
            let addresses =
                settings.http.addresses + settings.tls.addresses + settings.metricsAddresses
                + settings.redirectAddresses + settings.consoleAddresses
            return !addresses.indices.contains { index in
                addresses[..<index].contains { other in other.overlaps(addresses[index]) }
            }
        },
        SettingConflict(
            keys: ["api.dev_login", "public_url"],
            rule:
                "api.dev_login must be false when public_url is https: any client could log in as any user"
        ) { settings in
            !settings.api.allowsDevelopmentLogin
                || settings.publicURL?.hasPrefix("https:") != true
        },
        SettingConflict(
            keys: ["console.backup_folder", "database.url", "database.url_file"],
            rule:
                "console.backup_folder needs the embedded database: one on a server is saved with its own tools"
        ) { settings in
            settings.console.backupFolder == nil
                || (settings.databaseURL == nil && settings.databaseURLFile == nil)
        },
        SettingConflict(
            keys: ["http.write_low", "http.write_high"],
            rule: "http.write_low must not be above http.write_high"
        ) { settings in settings.http.writeLow <= settings.http.writeHigh },
        SettingConflict(
            keys: ["http.proxy_protocol", "http.trusted_proxies"],
            rule:
                "http.proxy_protocol needs http.trusted_proxies: PROXY headers of other peers are refused"
        ) { settings in
            settings.http.proxyProtocol == .off || !settings.http.trust.proxies.isEmpty
        },
        SettingConflict(
            keys: ["http.forwarded_from", "http.trusted_proxies"],
            rule:
                "http.forwarded_from needs http.trusted_proxies: the fields of other peers are ignored"
        ) { settings in
            settings.http.trust.source == .none || !settings.http.trust.proxies.isEmpty
        },
        SettingConflict(
            keys: ["http.listen", "public_url"],
            rule:
                "http.listen with port 0 needs public_url: the system chooses the port, and URLs must name it"
        ) { settings in
            settings.publicURL != nil
                || !settings.http.addresses.contains { address in address.port == 0 }
        },
        SettingConflict(
            keys: ["tls.keys", "tls.certificates"],
            rule: "tls.certificates and tls.keys must name as many files, in the same order"
        ) { settings in settings.tlsCertificates.count == settings.tlsKeys.count },
        SettingConflict(
            keys: ["tls.listen"], rule: "tls.listen needs tls.certificates and tls.keys"
        ) { settings in settings.tls.addresses.isEmpty || !settings.tlsCertificates.isEmpty },
        SettingConflict(
            keys: ["tls.certificates", "tls.listen"],
            rule: "tls.certificates needs tls.listen: no other address serves TLS"
        ) { settings in settings.tlsCertificates.isEmpty || !settings.tls.addresses.isEmpty },
        SettingConflict(
            keys: ["tls.hsts_max_age", "public_url"],
            rule:
                "tls.hsts_max_age needs a public_url that begins with https://, or none: browsers would no longer use http://"
        ) { settings in
            settings.strictTransportAge == 0 || settings.publicURL?.hasPrefix("http://") != true
        },
        SettingConflict(
            keys: ["tls.client_certificates"],
            rule: "tls.client_certificates needs tls.client_bundle"
        ) { settings in
            settings.tls.clientCertificates == .off || settings.tls.clientBundle != nil
        },
        SettingConflict(
            keys: ["tls.redirect_listen", "public_url"],
            rule: "tls.redirect_listen needs a public_url that begins with https://"
        ) { settings in
            settings.redirectAddresses.isEmpty
                || settings.publicURL?.hasPrefix("https://") == true
        },
        SettingConflict(
            keys: ["database.url_file", "database.url"],
            rule: "database.url and database.url_file must not be given together"
        ) { settings in settings.databaseURL == nil || settings.databaseURLFile == nil },
        SettingConflict(
            keys: ["s3.bucket"],
            rule: "s3.bucket needs s3.access_key and s3.secret_key, or s3.credentials_file"
        ) { settings in
            let bucket = settings.bucket
            return bucket.name == nil || bucket.credentialsFile != nil
                || bucket.hasAccessKey && bucket.hasSecretKey
        },
        SettingConflict(
            keys: ["s3.credentials_file", "s3.secret_key"],
            rule: "s3.credentials_file and s3.access_key must not be given together"
        ) { settings in
            settings.bucket.credentialsFile == nil
                || !settings.bucket.hasAccessKey && !settings.bucket.hasSecretKey
        },
        SettingConflict(
            keys: ["uploads.tail"],
            rule: "uploads.tail remote needs s3.bucket, and database.url or database.url_file"
        ) { settings in
            settings.bucket.tail != .remote
                || settings.bucket.name != nil
                    && (settings.databaseURL != nil || settings.databaseURLFile != nil)
        },
        SettingConflict(
            keys: ["app.token", "app.id"], rule: "app.id and app.token must be given together"
        ) { settings in
            (settings.applicationID == nil)
                == (settings.applicationToken == nil && settings.applicationTokenFile == nil)
        },
    ]
}

extension Settings {
    /// The host of a URL, in lower case and without port.
    fileprivate static func host(of url: String) -> String? {
        let parts = url.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 2 else { return nil }
        let authority = parts[2].lowercased()
        // A colon inside brackets belongs to an IPv6 address.
        let end = authority.first == "[" ? authority.firstIndex(of: "]") : nil
        guard let end else { return String(authority.prefix { character in character != ":" }) }
        return String(authority[...end])
    }
}

// Also counts keys whose files cannot be read, which are reported separately.
extension BucketSettings {
    fileprivate var hasAccessKey: Bool { accessKey != nil || accessKeyFile != nil }
    fileprivate var hasSecretKey: Bool { secretKey != nil || secretKeyFile != nil }
}

extension ListenAddress {
    /// The port; `nil` for Unix sockets.
    fileprivate var port: UInt16? {
        switch self {
        case .ipv4(_, let port), .ipv6(_, let port): port
        case .unix: nil
        }
    }
}

/// An allowed but unusual combination of settings: `check-config` and the start warn about it.
struct SettingWarning: Sendable {
    /// A sentence that names the settings and what to do.
    private let text: @Sendable (Settings) -> String
    private let applies: @Sendable (Settings) -> Bool

    /// The warnings that apply to the settings.
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
        SettingWarning(
            text: { settings in
                """
                uploads.application_quota is below uploads.max_upload_size (\(settings.uploads.maxUploadSize) bytes): \
                larger uploads than the quota are announced as allowed and then answered with 507; lower \
                uploads.max_upload_size
                """
            },
            applies: { settings in
                settings.uploads.applicationQuota.map { $0 < settings.uploads.maxUploadSize }
                    ?? false
            }),
    ]
}
