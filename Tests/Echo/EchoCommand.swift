import Dispatch
import Glibc
import HTTP
import HTTPTransport

/// `parley-echo --listen HOST:PORT [--loops N] [--json] [--<limit> N …]`.
enum EchoCommand {
    /// Limits by flag: sizes in octets, times in milliseconds.
    private static let limits:
        [(flag: String, set: @Sendable (inout ServerConfiguration, Int64) -> Void)] = [
            ("--loops", { configuration, value in configuration.loops = Int(value) }),
            (
                "--max-request-line",
                { configuration, value in configuration.head.requestLine = Int(value) }
            ),
            (
                "--max-header-line",
                { configuration, value in configuration.head.fieldLine = Int(value) }
            ),
            (
                "--max-header-bytes",
                { configuration, value in configuration.head.fieldSection = Int(value) }
            ),
            (
                "--max-header-fields",
                { configuration, value in configuration.head.fields = Int(value) }
            ),
            ("--header-timeout", { configuration, value in configuration.headerTimeout = value }),
            (
                "--keep-alive-timeout",
                { configuration, value in configuration.keepAliveTimeout = value }
            ),
            (
                "--body-idle-timeout",
                { configuration, value in configuration.bodyIdleTimeout = value }
            ),
            ("--min-body-rate", { configuration, value in configuration.minimumBodyRate = value }),
            ("--body-grace", { configuration, value in configuration.bodyGrace = value }),
            ("--request-timeout", { configuration, value in configuration.requestTimeout = value }),
            (
                "--write-idle-timeout",
                { configuration, value in configuration.writeIdleTimeout = value }
            ),
            ("--linger-timeout", { configuration, value in configuration.lingerTimeout = value }),
            ("--max-linger", { configuration, value in configuration.maximumLinger = value }),
            ("--drain-timeout", { configuration, value in configuration.drainTimeout = value }),
            ("--max-drain", { configuration, value in configuration.maximumDrain = value }),
            (
                "--max-connections",
                { configuration, value in configuration.maximumConnections = Int(value) }
            ),
            (
                "--max-requests",
                { configuration, value in configuration.maximumRequests = Int(value) }
            ),
            ("--backlog", { configuration, value in configuration.backlog = Int32(value) }),
        ]

    /// Serves until SIGTERM, then drains.
    static func run() {
        var configuration = ServerConfiguration()
        var bodyLimit: Int64 = 1 << 20
        var greeting = Response(.ok)
        var arguments = CommandLine.arguments.dropFirst()
        while let flag = arguments.popFirst() {
            if flag == "--json" {
                greeting = Response(.ok, "application/json", Array(document.utf8))
                continue
            }
            guard let value = arguments.popFirst() else { fail("\(flag) wants a value") }
            if flag == "--listen" {
                guard let address = ListenAddress(value) else { fail("\(value) is no HOST:PORT") }
                configuration.addresses = [address]
            } else if flag == "--max-body", let limit = Int64(value) {
                bodyLimit = limit
            } else if flag == "--allowed-host" {
                configuration.head.allowedHosts.append(value)
            } else if let limit = limits.first(where: { limit in limit.flag == flag }),
                let number = Int64(value)
            {
                limit.set(&configuration, number)
            } else {
                fail("\(flag) \(value) is not understood")
            }
        }
        serve(configuration, EchoService(greeting: greeting, bodyLimit: bodyLimit))
    }

    private static func serve(_ configuration: ServerConfiguration, _ service: EchoService) {
        do {
            let server = try Server(configuration, service: service)
            for address in try server.start() { print("listening on \(address)") }
            fflush(nil)
            signal(SIGTERM, SIG_IGN)
            let stop = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
            stop.setEventHandler { @Sendable in
                Task { exit(await server.drain(deadline: 30_000) ? 0 : 1) }
            }
            stop.resume()
            dispatchMain()
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        let line = Array("parley-echo: \(message)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(2)
    }

    /// 299 octets of JSON, for the benchmark.
    private static let document: String = {
        let start =
            "{\"id\":\"layer:///messages/a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d\",\"sent_at\":\"2026-03-01T09:16:02.500Z\",\"body\":\""
        return start + String(repeating: "x", count: 299 - start.utf8.count - 2) + "\"}"
    }()
}
