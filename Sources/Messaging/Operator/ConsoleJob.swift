/// A long task that was started in the console: an export, an import or a backup.
public struct ConsoleJob: Equatable, Sendable {
    /// Identifies the job.
    public typealias ID = Identifier<ConsoleJob>

    /// What a job does.
    public enum Kind: String, CaseIterable, Sendable {
        /// Writes an application to a file of JSON lines.
        case export
        /// Reads such a file into its application.
        case `import`
        /// Copies the embedded database and all contents into a folder.
        case backup
    }

    /// How far a job is.
    public enum State: String, CaseIterable, Sendable {
        /// A process works on it.
        case running
        /// It has ended successfully.
        case done
        /// It has ended with ``ConsoleJob/error``.
        case failed
        /// Its process ended before it; it can be run again.
        case interrupted
    }

    /// The id.
    public let id: ID
    /// What it does.
    public let kind: Kind
    /// The application; `nil` for a backup.
    public let application: Application.ID?
    /// How far it is. A ``State/running`` job of a process that has ended is interrupted.
    public var state: State
    /// The process that works on it, or did so last.
    public var process: String
    /// The operator or token that started it.
    public let actor: String
    /// When it was started, or run again.
    public var startedAt: Timestamp
    /// When it ended; `nil` before that.
    public var endedAt: Timestamp?
    /// How many bytes it has processed.
    public var done: Int64
    /// How many bytes it processes; `nil` while that is unknown.
    public var total: Int64?
    /// Why it failed.
    public var error: String?
    /// What it has done, as JSON; `nil` before its end.
    public var result: String?

    /// All members.
    public init(
        id: ID, kind: Kind, application: Application.ID?, state: State, process: String,
        actor: String, startedAt: Timestamp, endedAt: Timestamp? = nil, done: Int64 = 0,
        total: Int64? = nil, error: String? = nil, result: String? = nil
    ) {
        self.id = id
        self.kind = kind
        self.application = application
        self.state = state
        self.process = process
        self.actor = actor
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.done = done
        self.total = total
        self.error = error
        self.result = result
    }

    /// How long an ended job and its file are stored, in milliseconds: 7 days.
    public static let retention: Int64 = 7 * 86_400_000
}
