import Dispatch
import Glibc

/// The signals this process understands: SIGTERM from whoever runs it and SIGINT from a keyboard ask it
/// to end, SIGHUP to read its settings anew.
final class ProcessSignals {
    /// One that came.
    enum Name: String {
        case terminate = "SIGTERM"
        case interrupt = "SIGINT"
        case hangUp = "SIGHUP"

        /// Whether it asks the process to end.
        var stops: Bool { self != .hangUp }
    }

    /// The signals, as they come.
    let names: AsyncStream<Name>
    private let sources: [any DispatchSourceSignal]

    /// Takes the signals over: from now on they do not end the process by themselves.
    init() {
        let (names, continuation) = AsyncStream.makeStream(of: Name.self)
        self.names = names
        let numbers: [(Int32, Name)] = [
            (SIGTERM, .terminate), (SIGINT, .interrupt), (SIGHUP, .hangUp),
        ]
        sources = numbers.map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in continuation.yield(name) }
            source.resume()
            return source
        }
    }
}
