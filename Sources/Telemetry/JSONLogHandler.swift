public import Logging
import Synchronization

/// A swift-log handler that writes entries as JSON lines to a sink.
public struct JSONLogHandler: LogHandler {
    /// The lowest level that is written: the logger's own if set, otherwise the threshold's.
    public var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }
    /// Metadata written with every entry.
    public var metadata: Logger.Metadata = [:]
    /// Adds metadata of the current task.
    public var metadataProvider: Logger.MetadataProvider?

    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    private let label: String
    private let sink: LogSink
    private let clock: @Sendable () -> Int64

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - label: A part of the program, such as `parley.uploads`.
    ///   - threshold: The level of all loggers without their own.
    ///   - clock: Milliseconds since 1970 UTC.
    public init(
        label: String, threshold: LogThreshold, sink: LogSink,
        clock: @escaping @Sendable () -> Int64 = systemMilliseconds
    ) {
        self.label = label
        self.threshold = threshold
        self.sink = sink
        self.clock = clock
    }

    /// One value of the metadata.
    public subscript(metadataKey name: String) -> Logger.Metadata.Value? {
        get { metadata[name] }
        set { metadata[name] = newValue }
    }

    /// Writes an entry; never blocks.
    public func log(event: LogEvent) {
        var line = LogLine(at: clock(), level: event.level.word)
        line.text("label", label)
        line.text("message", Redaction.filtered(event.message.description))
        if let error = event.error { line.text("error", Redaction.filtered("\(error)")) }
        var values = metadata
        if let provided = metadataProvider?.get() {
            values.merge(provided) { _, later in later }
        }
        if let said = event.metadata { values.merge(said) { _, later in later } }
        for (name, value) in values.sorted(by: { one, other in one.key < other.key }) {
            let isOurs = Self.ownNames.contains(name)
            line.text(
                name: isOurs ? "\(name)_" : name,
                Redaction.hides(name) ? Redaction.hidden : Redaction.filtered(value.description))
        }
        line.end()
        sink.write(line)
    }

    /// Metadata with these names gets a suffix, because a JSON object must not have a member twice.
    private static let ownNames: Set<String> = ["time", "level", "label", "message", "error"]
}

extension Logger.Level {
    fileprivate var word: StaticString {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        case .critical: "critical"
        }
    }
}

/// A lowest level that can change while loggers use it (H196).
public final class LogThreshold: Sendable {
    private let number: Atomic<Int>

    /// Creates a threshold.
    public init(_ level: Logger.Level) { number = Atomic(level.number) }

    /// The current level.
    public var level: Logger.Level { Logger.Level.allCases[number.load(ordering: .relaxed)] }

    /// Changes the level for all later entries.
    public func set(_ level: Logger.Level) { number.store(level.number, ordering: .relaxed) }
}

extension Logger.Level {
    /// The index among all levels.
    fileprivate var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
