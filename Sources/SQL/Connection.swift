/// One connection to a database, whatever its engine; used by one thread at a time.
///
/// Never `Sendable`: its owners keep it behind a lock.
protocol Connection: AnyObject {
    /// How the transaction stands, as far as the engine has been heard.
    var state: TransactionState { get }

    /// What is known and postponed in the transaction.
    var notebook: Notebook { get }

    /// Begins a transaction, on a new connection where the old one is broken.
    func begin(_ access: TransactionAccess) throws(SQLError)

    /// Runs a statement whose result nobody wants.
    ///
    /// It may wait for the next one that is asked for an answer; what goes wrong is thrown by that
    /// one, or by `settle`.
    func execute(_ sql: SQL) throws(SQLError)

    /// Runs a statement and counts the rows it has inserted, changed or deleted.
    func change(_ sql: SQL) throws(SQLError) -> Int

    /// Runs a statement and hands out its rows.
    func query(_ sql: SQL) throws(SQLError) -> any Rows

    /// Runs a statement and hands its rows to whoever takes them: at once, or together with what the next
    /// one finds that is asked for an answer. It may wait as `execute` does.
    func ask(_ sql: SQL, _ take: @escaping (any Rows) -> Void) throws(SQLError)

    /// Waits until everything has been run.
    func settle() throws(SQLError)

    /// Whether each statement has a way to go, so that fewer of them are better.
    var isRemote: Bool { get }

    /// Whether others hear of what is committed here.
    var isHeard: Bool { get }

    /// Has others told, once what was done is durable. It may wait as `execute` does.
    func hint(_ texts: [String]) throws(SQLError)

    /// Makes what was done durable.
    ///
    /// - Throws: ``SQLError/Kind/uncertain`` when nobody can tell whether it is.
    func commit() throws(SQLError)

    /// Ends the transaction without its changes; does nothing when there is none.
    func rollBack()

    func savepoint() throws(SQLError)
    func rollBackToSavepoint() throws(SQLError)
    func releaseSavepoint() throws(SQLError)

    /// A statement of a migration, in the engine's own words.
    func schema(_ statement: SQL) -> SQL

    /// Called by the writer between two batches.
    func tidyUp()

    func close()
}

/// How a transaction stands.
enum TransactionState {
    /// There is none: none was begun, or the engine has ended it by itself.
    case none
    case open
    /// A statement has failed, and the engine takes none but those that undo.
    case failed
}

/// What a transaction is begun for.
enum TransactionAccess {
    case writing
    /// One state, however long it is looked at.
    case reading
}
