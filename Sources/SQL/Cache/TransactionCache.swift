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
        return writes[row.table]?.last(of: row.key, key.aspect)?.value as? Value
    }

    func deferWrite<Value>(
        _ value: Value, of key: RowCacheKey<Value>, writing statements: @escaping () -> [SQL]
    ) {
        let row = key.name.row
        track(row.table)
        writes[row.table]?.update(
            row.key, DeferredWrites.Write(aspect: key.aspect, value: value, statements: statements))
    }

    /// Defers the insertion of a row.
    ///
    /// - Parameter rows: The keys that values read from the row are cached with, all of one table.
    func add(_ values: SQL, _ rows: [RowKey], by insertion: Insertion) {
        guard let table = rows.first?.table else { return }
        track(table)
        writes[table]?.add(values, rows.map(\.key), insertion)
        invalidate(rows)
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
            if !sql.template.isSelect, keys.isEmpty {
                clock += 1
                changedTables[table] = clock
            }
        }
        if !changed.isEmpty { invalidate(changed) }
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
        guard writes[table]?.isEmpty == false,
            let statements = writes[table]?.take(
                for: keys, rowsAtOnce: connection.isRemote ? DeferredWrites.rowsAtOnce : 1)
        else { return }
        for sql in statements {
            for other in tables(in: sql.template) where other != table {
                try runWrites(of: other, on: connection)
            }
            try connection.execute(sql)
        }
    }

    /// Empties the cache, when a transaction is rolled back or has ended.
    func clear() {
        guard clock > 0 || !entries.isEmpty || writes.values.contains(where: { !$0.isEmpty }) else {
            return
        }
        entries.removeAll(keepingCapacity: true)
        changedTables.removeAll(keepingCapacity: true)
        changedRows.removeAll(keepingCapacity: true)
        for table in writes.keys { writes[table]?.clear() }
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

/// The writes deferred for one table.
private struct DeferredWrites {
    /// Statements that write a row, and the value passed with them.
    struct Write {
        let aspect: [UInt8]
        let value: Any
        let statements: () -> [SQL]
    }

    /// The writes of each row, in order: those of one aspect need not commute with those of another.
    private var updates: [[UInt8]: [Write]] = [:]
    /// Rows to insert; rows that one statement can insert are one element.
    private var insertions: [(insertion: Insertion, rows: [SQL])] = []
    private var insertedKeys: Set<[UInt8]> = []

    /// The most rows in one statement on a server; on a file several rows in one statement save nothing.
    static let rowsAtOnce = 64

    var isEmpty: Bool { updates.isEmpty && insertions.isEmpty }

    /// The last write of a row, if it is one of this aspect.
    func last(of key: [UInt8], _ aspect: [UInt8]) -> Write? {
        guard let last = updates[key]?.last, last.aspect == aspect else { return nil }
        return last
    }

    /// Adds a write of a row, in place of its last one if that is of the same aspect.
    mutating func update(_ key: [UInt8], _ write: Write) {
        if last(of: key, write.aspect) != nil { updates[key]?.removeLast() }
        updates[key, default: []].append(write)
    }

    mutating func add(_ values: SQL, _ keys: [[UInt8]], _ insertion: Insertion) {
        insertedKeys.formUnion(keys)
        if insertions.last?.insertion == insertion {
            insertions[insertions.count - 1].rows.append(values)
        } else {
            insertions.append((insertion, [values]))
        }
    }

    /// Returns the statements of the writes, which are no longer deferred then.
    ///
    /// - Parameters:
    ///   - keys: Only what these rows need; empty for everything.
    ///   - rowsAtOnce: The most rows in one statement.
    mutating func take(for keys: [[UInt8]], rowsAtOnce: Int) -> [SQL] {
        var statements: [SQL] = []
        if keys.isEmpty || keys.contains(where: insertedKeys.contains) {
            statements = takeInsertions(rowsAtOnce)
        }
        for key in keys.isEmpty ? Array(updates.keys) : keys {
            for write in updates.removeValue(forKey: key) ?? [] { statements += write.statements() }
        }
        return statements
    }

    mutating func clear() {
        updates.removeAll(keepingCapacity: true)
        insertions.removeAll(keepingCapacity: true)
        insertedKeys.removeAll(keepingCapacity: true)
    }

    /// Inserts powers of two rows at once, so that there are few statement texts and their prepared forms are
    /// reused.
    private mutating func takeInsertions(_ rowsAtOnce: Int) -> [SQL] {
        var statements: [SQL] = []
        for (insertion, rows) in insertions {
            var rest = rows[...]
            while !rest.isEmpty {
                let most = min(rest.count, rowsAtOnce)
                let count = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
                statements.append(insertion.sql(adding: rest.prefix(count)))
                rest.removeFirst(count)
            }
        }
        insertions.removeAll(keepingCapacity: true)
        insertedKeys.removeAll(keepingCapacity: true)
        return statements
    }
}

/// An `INSERT` statement around the rows it inserts.
///
/// ```swift
/// Insertion("INSERT INTO people (id, name) VALUES", "ON CONFLICT (id) DO NOTHING")
/// ```
public struct Insertion: Equatable, Sendable {
    private let front: SQL
    private let back: SQL

    /// - Parameters:
    ///   - front: The statement up to and including `VALUES`.
    ///   - back: The statement after the rows.
    public init(_ front: SQL, _ back: SQL = "") {
        self.front = front
        self.back = back
    }

    func sql(adding rows: ArraySlice<SQL>) -> SQL {
        var text = SQL.StringInterpolation(
            literalCapacity: 0, interpolationCount: rows.reduce(2) { $0 + $1.values.count })
        text.appendInterpolation(front)
        for (number, row) in rows.enumerated() {
            text.appendLiteral(number == 0 ? " " : ", ")
            text.appendInterpolation(row)
        }
        text.appendLiteral(" ")
        text.appendInterpolation(back)
        return SQL(stringInterpolation: text)
    }
}
