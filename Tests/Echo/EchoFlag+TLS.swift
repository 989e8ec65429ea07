import HTTPTransport

extension EchoFlag {
    /// `--tls-cert FILE --tls-key FILE …`: with a pair, or several, all addresses speak TLS.
    static let secure: [EchoFlag] = [
        EchoFlag(name: "--tls-cert", wantsValue: true) { options, value in
            options.chains.append(value)
            return true
        },
        EchoFlag(name: "--tls-key", wantsValue: true) { options, value in
            options.keys.append(value)
            return true
        },
        EchoFlag(name: "--tls-client-bundle", wantsValue: true) { options, value in
            options.tls.clientBundle = value
            return true
        },
        EchoFlag(name: "--tls-no-tickets", wantsValue: false) { options, _ in
            options.tls.hasTickets = false
            return true
        },
        choice("--tls-client-certificates", \.tls.clientCertificates),
        choice("--tls-unknown-name", \.tls.unknownName),
        number("--tls-handshake-timeout", \.tls.handshakeTimeout),
        number("--tls-max-handshakes", \.tls.maximumHandshakes),
        number("--tls-max-key-updates", \.tls.maximumKeyUpdates),
        number("--tls-ticket-rotation", \.tls.ticketRotation),
        number("--hsts", \.tls.strictTransportAge),
    ]

    private static func choice<Choice: RawRepresentable<String> & Sendable>(
        _ name: String, _ place: Place<Choice>
    ) -> EchoFlag {
        EchoFlag(name: name, wantsValue: true) { options, value in
            guard let choice = Choice(rawValue: value) else { return false }
            options[keyPath: place] = choice
            return true
        }
    }
}

extension EchoOptions {
    /// What the server is told.
    var transport: ServerConfiguration {
        guard !chains.isEmpty else { return configuration }
        var (configuration, tls) = (configuration, tls)
        tls.certificates = zip(chains, keys).map { chain, key in .init(chain: chain, key: key) }
        tls.addresses = configuration.addresses
        configuration.addresses = []
        configuration.tls = tls
        return configuration
    }
}
