public import Logging
import Synchronization

/// Writes the entries of swift-log as JSON lines to a sink.
public struct JSONLogHandler: LogHandler {
    /// The lowest level that is written: that of everybody, unless this logger was given its own.
    public var logLevel: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }
    /// Said with every entry of this logger.
    public var metadata: Logger.Metadata = [:]
    /// Adds what the current task carries.
    public var metadataProvider: Logger.MetadataProvider?

    private var ownLevel: Logger.Level?
    private let threshold: LogThreshold
    private let label: String
    private let sink: LogSink
    private let clock: @Sendable () -> Int64

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - label: Names the part of the program, such as `parley.uploads`.
    ///   - threshold: The level of everybody.
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

    /// One value of the metadata said with every entry.
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

    /// Metadata of these names would make a member stand twice in its object.
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

/// The lowest level that is written, which may change while loggers use it (H196).
public final class LogThreshold: Sendable {
    private let number: Atomic<Int>

    /// Begins with a level.
    public init(_ level: Logger.Level) { number = Atomic(level.number) }

    /// The level now.
    public var level: Logger.Level { Logger.Level.allCases[number.load(ordering: .relaxed)] }

    /// Takes another level, for all entries from now on.
    public func set(_ level: Logger.Level) { number.store(level.number, ordering: .relaxed) }
}

extension Logger.Level {
    /// Its place among all levels.
    fileprivate var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
