/// A running transaction; it exists only inside the closure that was passed to the database.
///
/// Every call blocks its thread, which belongs to the database.
public final class Transaction {
    private let connection: any Connection
    private(set) var hooks: [@Sendable () -> Void] = []
    private(set) var commitHooks: [CommitHooks] = []
    private(set) var notifications = PendingNotifications()
    /// Whether a statement other than `SELECT` has run: there may be something to undo.
    var hasChanged = false

    package init(on connection: any Connection) { self.connection = connection }

    /// Runs a statement that writes.
    ///
    /// Over a network several statements share a round trip: an error may be thrown by a later statement or
    /// by the call that made the change. Nothing of the change is then committed.
    public func execute(_ sql: SQL) throws(SQLError) {
        try prepare(sql)
        hasChanged = true
        try connection.execute(sql)
    }

    /// Runs a statement that writes, and waits for it.
    ///
    /// - Returns: How many rows it has inserted, updated or deleted.
    public func rowsChanged(by sql: SQL) throws(SQLError) -> Int {
        try prepare(sql)
        hasChanged = true
        return try connection.change(sql)
    }

    /// Runs a query and makes a value of each row.
    public func rows<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value
    ) throws -> [Value] {
        let rows = try query(sql)
        defer { rows.finish() }
        var values: [Value] = []
        while try rows.next() { values.append(try make(Row(rows: rows))) }
        return values
    }

    /// Runs a query and makes values of its rows until one is `nil`; further rows are not read.
    public func prefix<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value?
    ) throws -> [Value] {
        let rows = try query(sql)
        defer { rows.finish() }
        var values: [Value] = []
        while try rows.next(), let value = try make(Row(rows: rows)) { values.append(value) }
        return values
    }

    /// Runs a query and makes a value of the first row; `nil` when there is none. Further rows are not read.
    ///
    /// A statement that writes has written all rows by then, so this suits `RETURNING`.
    public func first<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value
    ) throws -> Value? {
        let rows = try query(sql)
        defer { rows.finish() }
        guard try rows.next() else { return nil }
        return try make(Row(rows: rows))
    }

    /// Calls `run` once the change is durable, before its caller is resumed; never when the change is rolled
    /// back, and never in a read.
    ///
    /// `run` is called on the writer's thread and must return at once: it signals, and leaves the work to
    /// another thread.
    public func afterCommit(_ run: @escaping @Sendable () -> Void) { hooks.append(run) }

    /// Calls `before` directly before the commit, and `after` when the commit has succeeded or failed; neither
    /// when the change is rolled back earlier.
    ///
    /// For caches of rows, which must not answer while the commit becomes visible. Both are called on the
    /// writer's thread, as with ``afterCommit(_:)``, before the caller of the change is resumed.
    public func aroundCommit(
        before: @escaping @Sendable () -> Void, after: @escaping @Sendable () -> Void
    ) {
        commitHooks.append(CommitHooks(before: before, after: after))
    }

    /// Notifies the processes that share the database and listen (``Database/listen(_:)``), once the change is
    /// durable. Does nothing on a file, or when the change is rolled back.
    ///
    /// - Parameters:
    ///   - subject: One word, at most 200 bytes, without spaces.
    ///   - better: Chooses the number to send when the changes of one commit name a subject twice.
    public func notify(
        _ subject: String, _ number: Int64,
        keeping better: @escaping @Sendable (Int64, Int64) -> Int64 = { max($0, $1) }
    ) {
        if connection.hasListeners { notifications.note(subject, number, better) }
    }

    private func query(_ sql: SQL) throws(SQLError) -> any Rows {
        try prepare(sql)
        if !sql.template.isSelect { hasChanged = true }
        return try connection.query(sql)
    }

    /// - Parameter rows: The only rows of their tables that the statement reads.
    private func prepare(_ sql: SQL, about rows: [RowKey] = []) throws(SQLError) {
        try requireOpen(sql)
        try connection.cache.prepare(for: sql, about: rows, on: connection)
    }

    /// After an error the engine may have rolled back already; later statements would then be committed on
    /// their own.
    private func requireOpen(_ sql: SQL) throws(SQLError) {
        guard connection.state == .open else {
            throw SQLError(
                .transactionLost, "the transaction had already ended", statement: sql.text)
        }
    }
}

/// Closures to call before and after a commit.
struct CommitHooks: Sendable {
    let before: @Sendable () -> Void
    let after: @Sendable () -> Void
}

// The cache that the changes of one commit share: rows read, and writes deferred.
extension Transaction {
    /// Runs a query whose rows are needed later.
    ///
    /// Over a network, all queries sent before the first result is read share one round trip. On a file the
    /// query runs at once.
    ///
    /// - Parameters:
    ///   - sql: A `SELECT`.
    ///   - key: The cache key of the result. The same query, in this change or a later one of the same
    ///     commit, is then answered from the cache until a statement writes to a table of the key. Of these
    ///     tables the query must read no other row.
    public func ask<Value>(
        _ sql: @autoclosure () -> SQL, as key: RowCacheKey<Value>? = nil,
        _ make: @escaping (borrowing Row) throws -> Value
    ) throws(SQLError) -> DeferredRows<Value> {
        if let key, let cached = connection.cache.rows(for: key) { return cached }
        let sql = sql()
        try prepare(sql, about: key?.rows ?? [])
        let result = DeferredRows<Value>(on: connection)
        try connection.ask(sql) { rows in result.take(rows, make) }
        if let key { connection.cache.store(result, for: key) }
        return result
    }

    /// The cached value of a row; `nil` when it was not read in this commit, or may have changed since.
    public func cached<Value>(_ key: RowCacheKey<Value>) throws -> Value? {
        try connection.cache.rows(for: key)?.first()
    }

    /// Caches the value that a row has after the deferred writes.
    public func cache<Value>(_ value: Value, for key: RowCacheKey<Value>) {
        connection.cache.store(DeferredRows(value), for: key)
    }

    /// The value passed with the deferred write of a row; `nil` when there is none.
    public func deferred<Value>(_ key: RowCacheKey<Value>) -> Value? {
        connection.cache.deferred(key)
    }

    /// Defers a write of a row until the next statement that reads the row, or the commit. A later deferred
    /// write of the same row replaces it.
    ///
    /// For a row that many changes of a commit update: it is written once for all of them. Cached values of
    /// the row must be updated by ``cache(_:for:)``.
    ///
    /// - Parameters:
    ///   - value: Returned by ``deferred(_:)`` to the next change that defers a write of the row.
    ///   - key: Names the row in its first table.
    public func deferWrite<Value>(
        _ value: Value, of key: RowCacheKey<Value>, writing sql: @escaping () -> SQL
    ) {
        hasChanged = true
        connection.cache.deferWrite(value, of: key, writing: sql)
    }

    /// Defers the insertion of a row until the next statement that reads the row, or the commit; rows of one
    /// table are then inserted by one statement.
    ///
    /// - Parameters:
    ///   - values: The values in parentheses, in the order of the insertion.
    ///   - table: The name of the table, as statements spell it.
    ///   - key: The key of the row, as in ``RowCacheKey``.
    public func add(_ values: SQL, to table: String, key: [UInt8], by insertion: Insertion) {
        hasChanged = true
        connection.cache.add(values, RowKey(table: table, key: key), by: insertion)
    }
}
