/// An error of the database, or of the way it was used.
public struct SQLError: Error, Hashable, Sendable {
    /// The kind of error.
    public let kind: Kind

    /// SQLite's extended result code; 0 when the error is not SQLite's.
    public let code: Int32

    /// The message of the engine or of this module; for the log, not for callers of an API.
    public let message: String

    /// The text of the statement without its values, which may be private.
    public let statement: String?

    /// The kinds of errors that callers distinguish.
    public enum Kind: Hashable, Sendable {
        /// The disk is full, or the database has reached its size limit. Nothing of the change is committed.
        case diskFull
        /// The file is damaged.
        case corrupt
        /// The file is not a database.
        case notADatabase
        /// The file or its folder cannot be opened.
        case cannotOpen
        /// The server cannot be reached, refuses the connection, or has closed it. Nothing of the change is
        /// committed.
        case unreachable
        /// The connection was lost during a commit: the change may be durable or not.
        case uncertain
        /// A conflict with changes of other transactions, also after retries.
        case collided
        /// A statement exceeded its time limit.
        case timedOut
        /// The file or its folder is not writable.
        case readOnly
        /// Another process held its lock longer than the time limit.
        case locked
        /// An I/O error of the disk.
        case inputOutput
        /// A unique or primary key already exists.
        case notUnique
        /// Another constraint is violated.
        case constraint
        /// A column has another type than requested, is `NULL`, or does not exist.
        case typeMismatch
        /// The database was written by a newer release, or has other migrations.
        case schema
        /// A migration into the database is not finished (`DatabaseMigration`).
        case unfinished
        /// The database has been closed.
        case closed
        /// The engine ended the transaction by itself; later statements are not run.
        case transactionLost
        /// A statement that the engine does not accept, or a use it does not allow.
        case misuse
        /// Any other error; see the code.
        case other
    }

    package init(_ kind: Kind, code: Int32 = 0, _ message: String, statement: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.statement = statement
    }

    package static var closed: SQLError { SQLError(.closed, "the database has been closed") }

    package static var transactionLost: SQLError {
        SQLError(.transactionLost, "the engine has ended the transaction by itself")
    }
}

extension SQLError {
    /// Whether an immediate retry may succeed.
    var isTransient: Bool { [.unreachable, .collided].contains(kind) }

    /// Whether the error affects every change of the transaction, not only the one during which it occurred.
    var affectsWholeBatch: Bool { isTransient || kind == .locked }
}

extension SQLError: CustomStringConvertible {
    /// One line for the log.
    public var description: String {
        "\(kind) (\(code)): \(message)" + (statement.map { " in: \($0)" } ?? "")
    }
}
