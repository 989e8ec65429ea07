import Dispatch
import Glibc

/// The signals that ask a process to end: SIGTERM from whoever runs it, SIGINT from a keyboard.
final class StopSignals {
    /// Names of the signals, as they come.
    let names: AsyncStream<String>
    private let sources: [any DispatchSourceSignal]

    /// Takes the signals over: from now on they do not end the process by themselves.
    init() {
        let (names, continuation) = AsyncStream.makeStream(of: String.self)
        self.names = names
        sources = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")].map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in continuation.yield(name) }
            source.resume()
            return source
        }
    }
}
