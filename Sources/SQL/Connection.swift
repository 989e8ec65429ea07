/// A connection to a database of either engine, used by one thread at a time.
///
/// Never `Sendable`: its owners guard it with a lock.
package protocol Connection: AnyObject {
    /// The state of the transaction, as of the last answer of the engine.
    var state: TransactionState { get }

    /// Rows read and writes deferred in the transaction.
    var cache: TransactionCache { get }

    /// Begins a transaction; reconnects first when the connection is broken.
    func begin(_ access: TransactionAccess) throws(SQLError)

    /// Runs a statement without a result.
    ///
    /// It may be sent together with the next statement that has one; its error is then thrown by that
    /// statement, or by `flush`.
    func execute(_ sql: SQL) throws(SQLError)

    /// Runs a statement without a result with each of some lists of values, as ``execute(_:)``.
    func execute(_ template: StatementTemplate, with rows: [[SQLValue]]) throws(SQLError)

    /// Runs a statement and returns how many rows it has inserted, updated or deleted.
    func change(_ sql: SQL) throws(SQLError) -> Int

    /// Runs a statement and returns its rows.
    func query(_ sql: SQL) throws(SQLError) -> any Rows

    /// Runs a statement and passes its rows to a closure: at once, or when the next statement with a result
    /// is answered. It may be deferred as `execute` is.
    func query(_ sql: SQL, _ take: @escaping (any Rows) -> Void) throws(SQLError)

    /// Waits until every statement so far has run.
    ///
    /// - Throws: The first error of them.
    func flush() throws(SQLError)

    /// Whether each statement costs a round trip, so that fewer statements are faster.
    var isRemote: Bool { get }

    /// Waits for the server since the connection was made; 0 on a file.
    var roundTrips: Int { get }

    /// Whether the last transaction that writes had to wait for one of another process.
    var isContended: Bool { get }

    /// Whether other processes are notified of what is committed here.
    var hasListeners: Bool { get }

    /// Notifies other processes, outside a transaction and without waiting; a failure is ignored.
    func notify(_ texts: [String])

    /// Commits; when it returns, the changes are durable. Deferred statements are sent with it.
    ///
    /// - Throws: ``SQLError/Kind/uncertain`` when the server was lost during the commit; the error of a deferred
    ///   statement, with which nothing is committed.
    func commit() throws(SQLError)

    /// Rolls the transaction back; does nothing when there is none.
    func rollBack()

    func savepoint() throws(SQLError)
    func rollBackToSavepoint() throws(SQLError)
    func releaseSavepoint() throws(SQLError)

    /// A statement of a schema migration, as the engine spells it.
    func schema(_ statement: SQL) -> SQL

    /// Called by the writer between two batches.
    func performMaintenance()

    func close()
}

/// The state of a transaction.
package enum TransactionState {
    /// No transaction: none was begun, or the engine ended it by itself.
    case none
    case open
    /// A statement has failed; the engine accepts only statements that roll back.
    case failed
}

/// The purpose of a transaction.
package enum TransactionAccess {
    case writing
    /// A snapshot: every statement sees the same state.
    case reading
}

extension Connection {
    /// Begins a transaction with an empty cache.
    func start(_ access: TransactionAccess) throws(SQLError) {
        cache.clear()
        try begin(access)
    }

    /// Runs one change in its own transaction.
    @discardableResult
    package func write<Value>(_ change: (Transaction) throws -> Value) throws -> Value {
        try start(.writing)
        do {
            let value = try change(Transaction(on: self))
            try cache.writeAll(on: self)
            try commit()
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs a read in a snapshot; once more when the connection turns out to be broken.
    package func read<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        do {
            return try readOnce(body)
        } catch let error as SQLError where error.isTransient {
            return try readOnce(body)
        }
    }

    private func readOnce<Value>(_ body: (Transaction) throws -> Value) throws -> Value {
        try start(.reading)
        // A read changes nothing, so rolling back loses nothing, whether it threw or not.
        defer { rollBack() }
        let value = try body(Transaction(on: self))
        try flush()
        return value
    }
}
