import Dispatch
import Glibc
import HTTP
import HTTPTransport
import WebSockets

/// `parley-echo [--listen HOST:PORT] [--<flag> VALUE …]`, see ``EchoFlag``.
enum EchoCommand {
    /// Serves until SIGTERM, then drains.
    static func run() {
        var options = EchoOptions()
        var arguments = CommandLine.arguments.dropFirst()
        while let name = arguments.popFirst() {
            guard let flag = EchoFlag.named(name) else { fail("there is no flag \(name)") }
            let value = flag.wantsValue ? arguments.popFirst() : ""
            guard let value else { fail("\(name) wants a value") }
            guard flag.set(&options, value) else { fail("\(name) \(value) is not understood") }
        }
        let service = EchoService(
            greeting: options.greeting, limits: options.limits, files: options.files)
        serve(options.transport, service)
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
}

/// What the command line may change.
struct EchoOptions {
    var configuration = {
        var configuration = ServerConfiguration()
        // Whoever measures comes from one address.
        configuration.maximumConnectionsPerAddress = 1_000_000
        return configuration
    }()
    var limits = EchoLimits()
    /// TLS, spoken where there are certificates.
    var tls = TLSConfiguration()
    /// Files of certificates, and in the same order those of their keys.
    var chains: [String] = []
    var keys: [String] = []
    /// What `GET /` answers when there is nothing to echo.
    var greeting = Response(.ok)
    /// What lies under `/files/`.
    var files: StaticFiles?
}

/// Limits of the service itself.
struct EchoLimits {
    /// Bytes of a body that is echoed.
    var body: Int64 = 1 << 20
    /// Milliseconds between two events of `/sse`.
    var eventInterval: Int64 = 1000
    /// How `/sse` serves.
    var events = EventStreamSettings()
    /// Streams and sockets at once, of those who give a name in `X-User`, and of one of them (H157).
    var streams = 1_000_000
    var streamsPerUser = 16
    /// What `/ws` takes.
    var sockets = WebSocketSettings()
    /// Bytes of the content of `/stream`.
    var streamLength: Int64 = 16 << 20
    /// Bytes of it that are written at once.
    var streamPiece = 16 << 10
}
