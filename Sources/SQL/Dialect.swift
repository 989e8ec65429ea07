// Statements that control transactions, and those of SQLite; `PostgresDialect` has those of PostgreSQL.

/// Statements that both engines accept.
package enum Dialect {
    package static let commit = "COMMIT"
    package static let rollback = "ROLLBACK"
    package static let savepoint = "SAVEPOINT mutation"
    package static let release = "RELEASE SAVEPOINT mutation"
    package static let rollbackToSavepoint = "ROLLBACK TO SAVEPOINT mutation"

    /// The lock clause of a `SELECT`: empty, because a writer holds a lock on the whole file or schema.
    static let rowLock = ""
}

/// Statements of SQLite.
enum SQLiteDialect {
    static func begin(_ access: TransactionAccess) -> String {
        switch access {
        // Takes the write lock at once: taking it later could fail in the middle of a batch.
        case .writing: "BEGIN IMMEDIATE"
        // The first statement that reads takes the snapshot.
        case .reading: "BEGIN DEFERRED"
        }
    }
}
