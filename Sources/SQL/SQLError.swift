/// A fault of the database, or of the way it was used.
public struct SQLError: Error, Hashable, Sendable {
    /// What has happened.
    public let kind: Kind

    /// The engine's own (extended) result code; 0 when the engine did not speak.
    public let code: Int32

    /// What the engine or this target says about it; for the log, not for callers of an API.
    public let message: String

    /// The text of the statement, without its values, which may be private.
    public let statement: String?

    /// What a caller may want to tell apart.
    public enum Kind: Hashable, Sendable {
        /// The disk, or the size the database may have, is used up. Nothing of the change is kept.
        case diskFull
        /// The file is damaged.
        case corrupt
        /// The file is no database.
        case notADatabase
        /// The file or its folder cannot be opened.
        case cannotOpen
        /// The server cannot be reached or does not let us in, or has left in the midst of something.
        /// Nothing of the change is kept.
        case unreachable
        /// The server has left while a change was made durable: it may be kept or not.
        case uncertain
        /// Changes of others stood in the way, also when tried again.
        case collided
        /// A statement took longer than it may.
        case timedOut
        /// The file or its folder may not be written.
        case readOnly
        /// Another process held the database longer than we wait.
        case locked
        /// The disk has failed.
        case inputOutput
        /// A unique or primary key exists already.
        case notUnique
        /// Another constraint is violated.
        case constraint
        /// A column holds another type than asked for, is `NULL`, or does not exist.
        case typeMismatch
        /// The database was written by a newer release, or another history of migrations.
        case schema
        /// The database is still being filled from another (``DatabaseMove``).
        case unfinished
        /// The database has been closed.
        case closed
        /// The engine ended the transaction by itself; a statement after that is not run.
        case transactionLost
        /// A statement the engine does not understand, or a use it does not allow.
        case misuse
        /// Everything else; see the code.
        case other
    }

    init(_ kind: Kind, code: Int32 = 0, _ message: String, statement: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.statement = statement
    }

    static var closed: SQLError { SQLError(.closed, "the database has been closed") }

    static var transactionLost: SQLError {
        SQLError(.transactionLost, "the engine has ended the transaction by itself")
    }
}

extension SQLError {
    /// Whether the same may work when it is tried again at once.
    var mayPass: Bool { [.unreachable, .collided].contains(kind) }

    /// Whether it is no fault of one change but strikes all who share its transaction.
    var isEverybodys: Bool { mayPass || kind == .locked }
}

extension SQLError: CustomStringConvertible {
    /// One line for the log.
    public var description: String {
        "\(kind) (\(code)): \(message)" + (statement.map { " in: \($0)" } ?? "")
    }
}
