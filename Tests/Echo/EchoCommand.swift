import Dispatch
import Glibc
import HTTP
import HTTPTransport
import WebSockets

/// `parley-echo [--listen HOST:PORT] [--<flag> VALUE …]`, see ``EchoFlag``.
enum EchoCommand {
    /// Serves until SIGTERM, and then lets running requests finish for up to 30 seconds. Exits with 0 when all
    /// have finished, else with 1; with 2 for invalid arguments.
    static func run() {
        var options = EchoOptions()
        var arguments = CommandLine.arguments.dropFirst()
        while let name = arguments.popFirst() {
            guard let flag = EchoFlag.named(name) else { fail("unknown flag \(name)") }
            let value = flag.wantsValue ? arguments.popFirst() : ""
            guard let value else { fail("\(name) needs a value") }
            guard flag.set(&options, value) else { fail("\(name) \(value) is not a valid value") }
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

/// The options of the command line.
struct EchoOptions {
    var configuration = {
        var configuration = ServerConfiguration()
        // A load generator connects from one address.
        configuration.maximumConnectionsPerAddress = 1_000_000
        return configuration
    }()
    var limits = EchoLimits()
    /// TLS settings; without `chains` they are ignored.
    var tls = TLSConfiguration()
    /// Paths of certificate chains, and in the same order those of their keys.
    var chains: [String] = []
    var keys: [String] = []
    /// The response to `GET /` without a body.
    var greeting = Response(.ok)
    /// The folder served below `/files/`.
    var files: StaticFiles?
}

/// Limits of the service, in addition to those of the server.
struct EchoLimits {
    /// The largest body to echo, in bytes.
    var body: Int64 = 1 << 20
    /// Milliseconds between two events of `/sse`.
    var eventInterval: Int64 = 1000
    /// The settings of `/sse`.
    var events = EventStreamSettings()
    /// The most streams and sockets at once, in total and per user, of clients that send `X-User`
    /// (H157).
    var streams = 1_000_000
    var streamsPerUser = 16
    /// The settings of `/ws`.
    var sockets = WebSocketSettings()
    /// The size of `/stream` in bytes.
    var streamLength: Int64 = 16 << 20
    /// Bytes of `/stream` per write.
    var streamPiece = 16 << 10
}
