import HTTP
import HTTPTransport
import WebSockets

/// One flag of the command line.
struct EchoFlag: Sendable {
    /// A key path into the options that may be passed between threads, as all literal key paths
    /// may.
    typealias OptionPath<Value> = any WritableKeyPath<EchoOptions, Value> & Sendable

    let name: String
    /// Whether an argument with the value follows.
    let wantsValue: Bool
    /// Stores the value; false when it is invalid.
    let set: @Sendable (inout EchoOptions, String) -> Bool

    static func named(_ name: String) -> EchoFlag? {
        (all + secure).first { flag in flag.name == name }
    }

    /// Sizes in bytes, times in milliseconds.
    private static let all: [EchoFlag] = [
        EchoFlag(name: "--listen", wantsValue: true) { options, value in
            guard let address = ListenAddress(value) else { return false }
            options.configuration.addresses = [address]
            return true
        },
        EchoFlag(name: "--json", wantsValue: false) { options, _ in
            options.greeting = Response(.ok, "application/json", Array(document.utf8))
            return true
        },
        EchoFlag(name: "--allowed-host", wantsValue: true) { options, value in
            options.configuration.head.allowedHosts.append(value)
            return true
        },
        EchoFlag(name: "--ws-origin", wantsValue: true) { options, value in
            options.limits.sockets.origins.append(value)
            return true
        },
        EchoFlag(name: "--ws-deflate", wantsValue: false) { options, _ in
            options.limits.sockets.compression = WebSocketCompression()
            return true
        },
        EchoFlag(name: "--files", wantsValue: true) { options, value in
            var files = StaticFiles.Options(prefix: "/files")
            files.hasCompressedSiblings = true
            // A folder that cannot be opened is an invalid value.
            options.files = try? StaticFiles(folder: value, files)
            return options.files != nil
        },
        number("--loops", \.configuration.loops),
        number("--max-request-line", \.configuration.head.requestLine),
        number("--max-header-line", \.configuration.head.fieldLine),
        number("--max-header-bytes", \.configuration.head.fieldSection),
        number("--max-header-fields", \.configuration.head.fields),
        number("--header-timeout", \.configuration.headerTimeout),
        number("--keep-alive-timeout", \.configuration.keepAliveTimeout),
        number("--body-idle-timeout", \.configuration.bodyIdleTimeout),
        number("--min-body-rate", \.configuration.minimumBodyRate),
        number("--body-grace", \.configuration.bodyGrace),
        number("--request-timeout", \.configuration.requestTimeout),
        number("--write-idle-timeout", \.configuration.writeIdleTimeout),
        number("--min-write-rate", \.configuration.minimumWriteRate),
        number("--write-grace", \.configuration.writeGrace),
        number("--linger-timeout", \.configuration.lingerTimeout),
        number("--max-linger", \.configuration.maximumLinger),
        number("--drain-timeout", \.configuration.drainTimeout),
        number("--max-drain", \.configuration.maximumDrain),
        number("--read-ahead", \.configuration.readAhead),
        number("--write-high", \.configuration.writeHigh),
        number("--write-low", \.configuration.writeLow),
        number("--max-connections", \.configuration.maximumConnections),
        number("--max-requests", \.configuration.maximumRequests),
        number("--max-age", \.configuration.maximumAge),
        number("--backlog", \.configuration.backlog),
        number("--handler-timeout", \.configuration.handlerTimeout),
        number("--max-read-per-turn", \.configuration.readPerTurn),
        number("--max-connections-per-address", \.configuration.maximumConnectionsPerAddress),
        number("--max-concurrent-requests", \.configuration.maximumHandlers),
        number("--max-queue", \.configuration.maximumQueue),
        number("--queue-timeout", \.configuration.queueTimeout),
        number("--max-buffered-bodies", \.configuration.maximumBufferedBodies),
        number("--max-forwarded-hops", \.configuration.trust.maximumHops),
        EchoFlag(name: "--trusted-proxy", wantsValue: true) { options, value in
            guard let block = AddressBlock(value) else { return false }
            options.configuration.trust.proxies.append(block)
            return true
        },
        EchoFlag(name: "--forwarded-from", wantsValue: true) { options, value in
            guard let source = ProxyTrust.Source(rawValue: value) else { return false }
            options.configuration.trust.source = source
            return true
        },
        EchoFlag(name: "--proxy-protocol", wantsValue: true) { options, value in
            guard let choice = ServerConfiguration.ProxyProtocol(rawValue: value) else {
                return false
            }
            options.configuration.proxyProtocol = choice
            return true
        },
        number("--max-body", \.limits.body),
        number("--event-interval", \.limits.eventInterval),
        number("--event-queue", \.limits.events.maximumQueueBytes),
        number("--event-heartbeat", \.limits.events.heartbeat),
        number("--event-retry", \.limits.events.retry),
        number("--max-streams", \.limits.streams),
        number("--max-streams-per-user", \.limits.streamsPerUser),
        number("--ws-max-message", \.limits.sockets.maximumMessage),
        number("--ws-max-frame", \.limits.sockets.maximumFrame),
        number("--ws-max-fragments", \.limits.sockets.maximumFragments),
        number("--ws-max-rate", \.limits.sockets.messagesPerSecond),
        number("--ws-burst", \.limits.sockets.burst),
        number("--ws-ping", \.limits.sockets.pingInterval),
        number("--ws-idle", \.limits.sockets.idleTimeout),
        number("--ws-close-timeout", \.limits.sockets.closeTimeout),
        number("--ws-drain-spread", \.limits.sockets.drainSpread),
        number("--stream-length", \.limits.streamLength),
        number("--stream-piece", \.limits.streamPiece),
    ]

    static func number<Number: FixedWidthInteger & Sendable>(
        _ name: String, _ path: OptionPath<Number>
    ) -> EchoFlag {
        EchoFlag(name: name, wantsValue: true) { options, value in
            guard let number = Number(value), number > 0 else { return false }
            options[keyPath: path] = number
            return true
        }
    }

    /// 299 bytes of JSON, for the benchmark.
    private static let document: String = {
        let start =
            "{\"id\":\"layer:///messages/a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d\",\"sent_at\":\"2026-03-01T09:16:02.500Z\",\"body\":\""
        return start + String(repeating: "x", count: 299 - start.utf8.count - 2) + "\"}"
    }()
}

extension EchoFlag {
    /// `--tls-cert FILE --tls-key FILE …`: with one or more pairs, all addresses use TLS.
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
        _ name: String, _ path: OptionPath<Choice>
    ) -> EchoFlag {
        EchoFlag(name: name, wantsValue: true) { options, value in
            guard let choice = Choice(rawValue: value) else { return false }
            options[keyPath: path] = choice
            return true
        }
    }
}

extension EchoOptions {
    /// The server's configuration; with certificates, all addresses use TLS.
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
