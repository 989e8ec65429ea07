internal import Logging
internal import Messaging
internal import SystemSupport

/// What a client logs: for the application, and the last lines for ``ParleyClient/diagnostics()`` (K72).
///
/// Messages and metadata have names, numbers and codes of errors only: the texts of errors may quote bodies and URLs.
final class ClientLog: Sendable {
    /// The parts of a client, as the metadata `component` names them.
    enum Component: String {
        case feed, outbox, session, transfers
    }

    private static let linesKept = 200
    private let base: Logger
    private let kept = Locked<[String]>([])

    /// - Parameter base: The logger of the application.
    init(_ base: Logger) { self.base = base }

    /// The last lines.
    var lines: [String] { kept.withLock { lines in lines } }

    /// The logger of a component.
    func logger(_ component: Component) -> Logger {
        var logger = base
        logger.handler = MultiplexLogHandler([base.handler, Keeper(log: self)])
        logger[metadataKey: "component"] = "\(component.rawValue)"
        return logger
    }

    private func keep(_ line: String) {
        kept.withLock { lines in
            if lines.count == Self.linesKept { lines.removeFirst() }
            lines.append(line)
        }
    }

    private struct Keeper: LogHandler {
        let log: ClientLog
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        init(log: ClientLog) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let members = metadata.merging(event.metadata ?? [:]) { _, new in new }
                .sorted { $0.key < $1.key }.map { name, value in " \(name)=\(value)" }.joined()
            log.keep("\(Clock.now.milliseconds) \(event.level) \(event.message)\(members)")
        }
    }
}

extension ParleyError {
    /// What the log has of it.
    var logged: Logger.Metadata {
        guard let server else { return ["error": "\(code.rawValue)"] }
        return [
            "error": "\(code.rawValue)", "status": "\(server.status)",
            "server_error": "\(server.id.prefix(64))",
        ]
    }
}
