/// The rows that the changes of one transaction have read, and the writes they have deferred.
///
/// A statement that names a table first causes the writes deferred for that table; one that writes to a table
/// invalidates what is cached of it. Both are found by the text of the statement, so code that runs statements
/// need not know of the cache.
package final class TransactionCache {
    private struct Entry {
        let rows: AnyObject
        let keys: [RowKey]
        /// The value of `clock` when the entry was made.
        let time: Int
    }

    /// Counts invalidations.
    private(set) var clock = 0
    private var entries: [RowCacheName: Entry] = [:]
    private var changedTables: [String: Int] = [:]
    private var changedRows: [RowKey: Int] = [:]
    private var writes: [String: DeferredWrites] = [:]
    private var prefetches: [CommitGroup: any SharedPrefetch] = [:]
    /// The tracked tables that each statement names.
    private var tables: [StatementTemplate: [String]] = [:]
    /// Bounds `tables`; connections keep as many prepared statements.
    private static let templateLimit = 256

    package init() {}

    /// The cached rows; `nil` when none are cached, or when they may have changed.
    func rows<Value>(for key: RowCacheKey<Value>) -> DeferredRows<Value>? {
        guard let entry = entries[key.name],
            entry.keys.allSatisfy({ row in
                changedTables[row.table, default: 0] <= entry.time
                    && changedRows[row, default: 0] <= entry.time
            })
        else { return nil }
        return entry.rows as? DeferredRows<Value>
    }

    func store<Value>(_ rows: DeferredRows<Value>, for key: RowCacheKey<Value>) {
        store(rows, for: key, asOf: clock)
    }

    /// Caches rows that were read earlier; they may have changed since.
    ///
    /// - Parameter time: The value of ``clock`` when they were read.
    func store<Value>(_ rows: DeferredRows<Value>, for key: RowCacheKey<Value>, asOf time: Int) {
        for row in key.rows { track(row.table) }
        entries[key.name] = Entry(rows: rows, keys: key.rows, time: time)
    }

    /// The value passed with the deferred write of a row, if it is the row's last one.
    func deferred<Value>(_ key: RowCacheKey<Value>) -> Value? {
        let row = key.name.row
        return writes[row.table]?.pending(of: row.key, key.aspect) as? Value
    }

    /// - Parameter group: Names the writes that the statements can make together; `nil` for this one alone.
    func deferWrite<Value>(
        _ value: Value, of key: RowCacheKey<Value>, in group: CommitGroup? = nil,
        writing statements: @escaping ([Value]) -> [SQL]
    ) {
        let row = key.name.row
        track(row.table)
        writes[row.table]?.update(
            row.key,
            DeferredWrites.Write(aspect: key.aspect, value: value, group: group) { values in
                statements(values.compactMap { value in value as? Value })
            })
    }

    /// Defers the insertion of a row.
    ///
    /// - Parameter rows: The keys that values read from the row are cached with, all of one table.
    func add(_ row: InsertedRow, _ rows: [RowKey], by insertion: Insertion) {
        guard let table = rows.first?.table else { return }
        track(table)
        invalidate(rows)
        writes[table]?.add([row], insertion, at: clock)
    }

    /// Defers the insertion of many rows, and invalidates everything that is cached of the table.
    func add(_ rows: [InsertedRow], to table: String, by insertion: Insertion) {
        track(table)
        invalidate(table)
        writes[table]?.add(rows, insertion, at: clock)
    }

    private func invalidate(_ table: String) {
        clock += 1
        changedTables[table] = clock
    }

    func invalidate(_ rows: [RowKey]) {
        clock += 1
        for row in rows { changedRows[row] = clock }
    }

    /// Runs the deferred writes that a statement could read, and invalidates what it writes to.
    ///
    /// - Parameters:
    ///   - read: The only rows of their tables that the statement reads.
    ///   - changed: The only rows of their tables that the statement reads or writes. A table of neither list is
    ///     read and, unless by a `SELECT`, written as a whole.
    func prepare(
        for sql: SQL, reading read: [RowKey] = [], changing changed: [RowKey] = [],
        on connection: any Connection
    ) throws(SQLError) {
        guard !writes.isEmpty else { return }
        for table in tables(in: sql.template) {
            let keys = (read + changed).filter { row in row.table == table }.map(\.key)
            try runWrites(of: table, for: keys, on: connection)
            if !sql.template.isSelect, keys.isEmpty { invalidate(table) }
        }
        if !changed.isEmpty { invalidate(changed) }
    }

    /// Adds an item to a query that is sent once for all changes of the commit.
    func prefetch<Item: Hashable>(
        _ item: Item, by group: CommitGroup, _ send: @escaping ([Item]) throws -> Void
    ) {
        if let known = prefetches[group] as? ItemPrefetch<Item> { return known.add(item) }
        let prefetch = ItemPrefetch(send)
        prefetch.add(item)
        prefetches[group] = prefetch
    }

    /// Sends the queries of all items.
    ///
    /// - Returns: Whether there were any.
    func sendPrefetches() throws -> Bool {
        let pending = prefetches.values
        prefetches = [:]
        for prefetch in pending { try prefetch.send() }
        return !pending.isEmpty
    }

    /// Sends a server the deferred insertions that fill statements.
    func sendInsertions(on connection: any Connection) throws(SQLError) {
        guard connection.isRemote else { return }
        for table in Array(writes.keys) {
            for statement in writes[table]?.takeFullInsertions() ?? [] {
                try connection.execute(statement)
            }
        }
    }

    /// Runs all deferred writes; cached rows stay valid.
    func writeAll(on connection: any Connection) throws(SQLError) {
        for table in writes.keys.sorted() { try runWrites(of: table, on: connection) }
    }

    /// Runs the writes deferred for a table, and before each the writes deferred for other tables that it names.
    ///
    /// - Parameter keys: Run only what these rows need; empty for everything.
    private func runWrites(
        of table: String, for keys: [[UInt8]] = [], on connection: any Connection
    ) throws(SQLError) {
        guard writes[table]?.isEmpty == false else { return }
        // A row that was invalidated since the first insertion may be one that was inserted.
        let mayBeInserted = writes[table]?.firstInsertion.map { first in
            changedTables[table, default: 0] >= first
                || keys.contains { key in
                    changedRows[RowKey(key, in: table), default: 0] >= first
                }
        }
        let statements =
            writes[table]?.take(
                for: keys, insertions: keys.isEmpty || mayBeInserted == true,
                together: connection.isRemote) ?? []
        for statement in statements {
            for other in tables(in: statement.template) where other != table {
                try runWrites(of: other, on: connection)
            }
            try connection.execute(statement)
        }
    }

    /// Empties the cache, when a transaction is rolled back or has ended.
    func clear() {
        prefetches = [:]
        guard clock > 0 || !entries.isEmpty || writes.values.contains(where: { !$0.isEmpty }) else {
            return
        }
        entries.removeAll(keepingCapacity: true)
        changedTables.removeAll(keepingCapacity: true)
        changedRows.removeAll(keepingCapacity: true)
        // With the keys in an array of their own, the writes are not copied before they are changed.
        for table in Array(writes.keys) { writes[table]?.clear() }
        clock = 0
    }

    private func track(_ table: String) {
        guard writes[table] == nil else { return }
        writes[table] = DeferredWrites()
        tables.removeAll()
    }

    private func tables(in template: StatementTemplate) -> [String] {
        if let found = tables[template] { return found }
        if tables.count >= Self.templateLimit { tables.removeAll() }
        let found = writes.keys.filter(template.names).sorted()
        tables[template] = found
        return found
    }
}

extension Connection {
    fileprivate func execute(_ statement: DeferredWrites.Statement) throws(SQLError) {
        switch statement {
        case .once(let sql): try execute(sql)
        case .each(let template, let rows): try execute(template, with: rows)
        }
    }
}

/// A query ahead whose items the changes of a commit add.
private protocol SharedPrefetch {
    func send() throws
}

private final class ItemPrefetch<Item: Hashable>: SharedPrefetch {
    private var items: [Item] = []
    private var known: Set<Item> = []
    private let sendItems: ([Item]) throws -> Void

    init(_ send: @escaping ([Item]) throws -> Void) { sendItems = send }

    func add(_ item: Item) {
        if known.insert(item).inserted { items.append(item) }
    }

    func send() throws { try sendItems(items) }
}
