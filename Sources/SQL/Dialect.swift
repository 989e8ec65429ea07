// What the engines say differently. Today this is SQLite's side; PostgreSQL's words come here too.

/// The words around statements, which `MessagingStore` never writes.
enum Dialect {
    /// Takes the write lock at once: waiting for it later could fail in the midst of a batch.
    static let beginWriting = "BEGIN IMMEDIATE"

    /// A snapshot, taken by the first statement that reads.
    static let beginReading = "BEGIN DEFERRED"

    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"
    static let savepoint = "SAVEPOINT mutation"
    static let release = "RELEASE SAVEPOINT mutation"
    static let rollbackToSavepoint = "ROLLBACK TO SAVEPOINT mutation"

    /// Behind a `SELECT` whose rows are to stay as they are: whoever writes here has the whole
    /// database to himself.
    static let rowLock = ""

    /// A number that changes when another connection has committed.
    static let foreignCommits: SQL = "PRAGMA data_version"
}
