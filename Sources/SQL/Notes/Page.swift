/// What is still to be written to one table.
struct Page {
    /// A statement that writes a row, and what whoever postponed it remembers of it.
    struct Write {
        let value: Any
        let sql: () -> SQL
    }

    private var postponed: [[UInt8]: Write] = [:]
    /// Rows to be added, those together that one statement can add.
    private var added: [(insertion: Insertion, rows: [SQL])] = []
    private var addedKeys: Set<[UInt8]> = []

    /// Rows that one statement adds on a server; on a file each row is as much work as a statement.
    private static let rowsAtOnce = 64

    var isEmpty: Bool { postponed.isEmpty && added.isEmpty }

    subscript(key: [UInt8]) -> Write? {
        get { postponed[key] }
        set { postponed[key] = newValue }
    }

    mutating func add(_ values: SQL, _ key: [UInt8], _ insertion: Insertion) {
        addedKeys.insert(key)
        if added.last?.insertion == insertion {
            added[added.count - 1].rows.append(values)
        } else {
            added.append((insertion, [values]))
        }
    }

    /// Writes what is postponed.
    ///
    /// - Parameter keys: Only as much as these rows need; empty for everything.
    mutating func write(_ keys: [[UInt8]], on connection: any Connection) throws(SQLError) {
        if keys.isEmpty || keys.contains(where: addedKeys.contains) {
            try addRows(on: connection)
        }
        for key in keys.isEmpty ? Array(postponed.keys) : keys {
            guard let write = postponed.removeValue(forKey: key) else { continue }
            try connection.execute(write.sql())
        }
    }

    mutating func clear() {
        postponed.removeAll(keepingCapacity: true)
        added.removeAll(keepingCapacity: true)
        addedKeys.removeAll(keepingCapacity: true)
    }

    /// By powers of two: so there are a handful of texts, whose prepared forms are found again.
    private mutating func addRows(on connection: any Connection) throws(SQLError) {
        let all = added
        added.removeAll(keepingCapacity: true)
        addedKeys.removeAll(keepingCapacity: true)
        for (insertion, rows) in all {
            var rest = rows[...]
            while !rest.isEmpty {
                let most = min(rest.count, connection.isRemote ? Self.rowsAtOnce : 1)
                let count = 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
                try connection.execute(insertion.sql(adding: rest.prefix(count)))
                rest.removeFirst(count)
            }
        }
    }
}
