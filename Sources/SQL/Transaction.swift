/// A running transaction; it exists only inside the closure that was passed to the database.
///
/// Every call blocks its thread, which belongs to the database.
public final class Transaction {
    private let connection: any Connection
    private(set) var hooks: [@Sendable () -> Void] = []
    private(set) var commitHooks: [CommitHooks] = []
    private(set) var notifications = PendingNotifications()
    /// Whether a statement other than `SELECT` has run: there may be something to undo.
    private(set) var hasChanged = false
    /// How many statements have run. Tests compare it, because it does not depend on the speed of the machine.
    package private(set) var statementCount = 0

    package init(on connection: any Connection) { self.connection = connection }

    /// Runs a statement that writes.
    ///
    /// Over a network several statements share a round trip: an error may be thrown by a later statement or
    /// by the call that made the change. Nothing of the change is then committed.
    ///
    /// - Parameters:
    ///   - read: The only rows of their tables that the statement reads; it writes no cached value of them.
    ///   - changed: The only rows of their tables that the statement reads or writes: other cached rows of these
    ///     tables stay valid. A table of neither list is read and written as a whole.
    public func execute(
        _ sql: SQL, reading read: [RowKey] = [], changing changed: [RowKey] = []
    ) throws(SQLError) {
        try prepare(sql, reading: read, changing: changed)
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
        let rows = try run(sql)
        defer { rows.finish() }
        var values: [Value] = []
        while try rows.next() { values.append(try make(Row(rows: rows))) }
        return values
    }

    /// Runs a query and makes values of its rows until one is `nil`; further rows are not read.
    public func prefix<Value>(
        _ sql: SQL, _ make: (borrowing Row) throws -> Value?
    ) throws -> [Value] {
        let rows = try run(sql)
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
        let rows = try run(sql)
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
    ///   - subject: One word, at most 7,000 bytes, without spaces.
    ///   - better: Chooses the number to send when the changes of one commit name a subject twice.
    public func notify(
        _ subject: String, _ number: Int64,
        keeping better: @escaping @Sendable (Int64, Int64) -> Int64 = { max($0, $1) }
    ) {
        if connection.hasListeners { notifications.note(subject, number, better) }
    }

    private func run(_ sql: SQL) throws(SQLError) -> any Rows {
        try prepare(sql)
        if !sql.template.isSelect { hasChanged = true }
        return try connection.query(sql)
    }

    private func prepare(
        _ sql: SQL, reading read: [RowKey] = [], changing changed: [RowKey] = []
    ) throws(SQLError) {
        try requireOpen(sql)
        statementCount += 1
        try connection.cache.prepare(for: sql, reading: read, changing: changed, on: connection)
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
    ///   - read: Without a key, the only rows of their tables that the query reads.
    public func query<Value>(
        _ sql: @autoclosure () -> SQL, as key: RowCacheKey<Value>? = nil,
        reading read: [RowKey] = [],
        _ make: @escaping (borrowing Row) throws -> Value
    ) throws(SQLError) -> DeferredRows<Value> {
        if let key, let cached = connection.cache.rows(for: key) { return cached }
        let sql = sql()
        try prepare(sql, reading: key?.rows ?? read)
        let result = DeferredRows<Value>(on: connection)
        try connection.query(sql) { rows in result.take(rows, make) }
        if let key { connection.cache.store(result, for: key) }
        return result
    }

    /// Sends a query ahead, and caches its rows for the changes of this commit that query them.
    ///
    /// It can read rows whose key the change does not know yet: a query that names a message reads the participants of
    /// its conversation, which the change later queries by the id of the conversation.
    ///
    /// - Parameter make: Makes the key of each row, and its value. Rows of equal keys are cached together, in the
    ///   order of the query; without a value, that there is none.
    public func prefetch<Value>(
        _ sql: SQL, _ make: @escaping (borrowing Row) throws -> (RowCacheKey<Value>, Value?)
    ) throws(SQLError) {
        try prepare(sql)
        let (cache, time) = (connection.cache, connection.cache.clock)
        try connection.query(sql) { rows in
            var found: [RowCacheName: (key: RowCacheKey<Value>, values: [Value])] = [:]
            do {
                while try rows.next() {
                    let (key, value) = try make(Row(rows: rows))
                    found[key.name, default: (key, [])].values += value.map { [$0] } ?? []
                }
            } catch {
                // The change reads the rows itself and reports it.
                return
            }
            for (key, values) in found.values where cache.rows(for: key) == nil {
                cache.store(DeferredRows(values), for: key, asOf: time)
            }
        }
    }

    /// Sends a query ahead whose rows each hold values of several keys.
    ///
    /// - Parameter store: Passes the keys and values of a row to ``PrefetchedRow``.
    public func prefetchRows(
        _ sql: SQL, _ store: @escaping (borrowing Row, PrefetchedRow) throws -> Void
    ) throws(SQLError) {
        try prepare(sql)
        let cache = connection.cache
        let prefetched = PrefetchedRow(cache: cache, time: cache.clock)
        try connection.query(sql) { rows in
            do {
                while try rows.next() { try store(Row(rows: rows), prefetched) }
            } catch {
                // The change reads the rows itself and reports it.
            }
        }
    }

    /// Adds an item to a query that is sent ahead once for all changes of a commit. Only for use while a change
    /// prefetches (``Database/write(prefetching:_:)``).
    ///
    /// - Parameters:
    ///   - group: Names the query; changes with the same group share it.
    ///   - send: Sends the query for different items, with the other functions that prefetch.
    public func prefetch<Item: Hashable>(
        _ item: Item, by group: CommitGroup,
        _ send: @escaping (Transaction, [Item]) throws -> Void
    ) {
        connection.cache.prefetch(item, by: group) { items in try send(self, items) }
    }

    /// Sends the queries of ``prefetch(_:by:_:)``, and waits for them.
    func sendPrefetches() throws {
        if try connection.cache.sendPrefetches() { try connection.flush() }
    }

    /// The cached value of a row; `nil` when it was not read in this commit, or may have changed since.
    public func cached<Value>(_ key: RowCacheKey<Value>) throws -> Value? {
        try cachedRows(key)?.first
    }

    /// The cached values of rows; `nil` when they were not read in this commit, or may have changed since.
    public func cachedRows<Value>(_ key: RowCacheKey<Value>) throws -> [Value]? {
        try connection.cache.rows(for: key)?.rows()
    }

    /// Caches the value that a row has after the deferred writes; `nil` for no row.
    public func cache<Value>(_ value: Value?, for key: RowCacheKey<Value>) {
        connection.cache.store(DeferredRows(value.map { [$0] } ?? []), for: key)
    }

    /// Drops cached values that a deferred write has changed and that ``cache(_:for:)`` does not update.
    public func invalidate(_ rows: [RowKey]) { connection.cache.invalidate(rows) }

    /// The value passed with the last deferred write of a row; `nil` when there is none, or one of another aspect.
    public func deferred<Value>(_ key: RowCacheKey<Value>) -> Value? {
        connection.cache.deferred(key)
    }

    /// Defers a write of a row until the next statement that reads the row, or the commit. The next deferred
    /// write of the same row replaces it, if it is of the same aspect; writes of different aspects run in order.
    ///
    /// For a row that many changes of a commit update: it is written once for all of them. Cached values of
    /// the row must be updated by ``cache(_:for:)``.
    ///
    /// - Parameters:
    ///   - value: Returned by ``deferred(_:)`` to the next change that defers a write of the row.
    ///   - key: Names the row in its first table, and the aspect.
    public func deferWrite<Value>(
        _ value: Value, of key: RowCacheKey<Value>, writing sql: @escaping () -> SQL
    ) {
        deferWrites(value, of: key) { [sql()] }
    }

    /// Defers a write of a row, as ``deferWrite(_:of:writing:)`` does, that a few statements make with others.
    ///
    /// - Parameters:
    ///   - group: Names these writes. Two of them with different keys or aspects must be of different rows.
    ///   - statements: Makes the statements from the values of the writes of a group.
    public func deferWrite<Value>(
        _ value: Value, of key: RowCacheKey<Value>, in group: CommitGroup,
        writing statements: @escaping ([Value]) -> [SQL]
    ) {
        hasChanged = true
        connection.cache.deferWrite(value, of: key, in: group, writing: statements)
    }

    /// Defers several statements, as ``deferWrite(_:of:writing:)`` does; they may read other tables.
    public func deferWrites<Value>(
        _ value: Value, of key: RowCacheKey<Value>, writing statements: @escaping () -> [SQL]
    ) {
        hasChanged = true
        connection.cache.deferWrite(value, of: key) { _ in statements() }
    }

    /// Defers the insertion of a row until the next statement that reads the row, or the commit; rows of one
    /// table are then inserted by one statement.
    ///
    /// - Parameters:
    ///   - row: The values, in the order of the insertion.
    ///   - table: The name of the table, as statements spell it.
    ///   - keys: The keys of the row, as in ``RowCacheKey``.
    public func add(
        _ row: InsertedRow, to table: String, keys: [UInt8]..., by insertion: Insertion
    ) {
        hasChanged = true
        connection.cache.add(row, keys.map { key in RowKey(key, in: table) }, by: insertion)
    }

    /// Inserts a row at once; for rows that are too many to be deferred.
    public func insert(
        _ row: InsertedRow, by insertion: Insertion, changing changed: [RowKey]
    ) throws(SQLError) {
        try execute(
            SQL(template: insertion.template(ofColumns: row.values.count), values: row.values),
            changing: changed)
    }

    /// Defers the insertion of many rows. Nothing that was cached of the table is used any more.
    public func add(_ rows: [InsertedRow], to table: String, by insertion: Insertion) {
        hasChanged = true
        connection.cache.add(rows, to: table, by: insertion)
    }

    /// Sends a server those deferred insertions that fill statements, so that it makes them while a long change goes
    /// on. On a file they stay deferred.
    public func sendInsertions() throws(SQLError) {
        try connection.cache.sendInsertions(on: connection)
    }
}

/// Caches the values of a row that was read ahead (``Transaction/prefetchRows(_:_:)``).
public struct PrefetchedRow {
    fileprivate let cache: TransactionCache
    fileprivate let time: Int

    /// Caches a value; `nil` for none.
    public func store<Value>(_ value: Value?, for key: RowCacheKey<Value>) {
        guard cache.rows(for: key) == nil else { return }
        cache.store(DeferredRows(value.map { [$0] } ?? []), for: key, asOf: time)
    }
}
