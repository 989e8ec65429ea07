import Dispatch
import Glibc
import HTTP
import HTTPTransport

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
