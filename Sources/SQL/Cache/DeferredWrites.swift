/// The writes deferred for one table.
struct DeferredWrites {
    /// A write of a row: the value passed with it, and the statements that write such values.
    struct Write {
        let aspect: [UInt8]
        let value: Any
        let group: CommitGroup?
        let statements: ([Any]) -> [SQL]
    }

    /// The writes of each row, in order: those of one aspect need not commute with those of another.
    private var updates: [[UInt8]: [Write]] = [:]
    /// Rows to insert; rows that one statement can insert are one element.
    private var insertions: [(insertion: Insertion, rows: [SQL])] = []
    /// The time of the first of them by the clock of the cache; `nil` for none.
    private(set) var firstInsertion: Int?
    /// The statements that insert rows of one form, so that their texts are neither built nor compared again.
    private var templates: [RowForm: StatementTemplate] = [:]
    /// Bounds `templates`.
    private static let templateLimit = 64

    /// The most rows in one statement on a server, a power of two; on a file several rows in one statement save nothing.
    static let rowsAtOnce = 64

    var isEmpty: Bool { updates.isEmpty && insertions.isEmpty }

    /// The value of the write that another one of this aspect replaces.
    func pending(of key: [UInt8], _ aspect: [UInt8]) -> Any? {
        guard let writes = updates[key] else { return nil }
        return Self.replaceable(aspect, in: writes).map { index in writes[index].value }
    }

    /// Adds a write of a row, in place of an earlier one of the same aspect if only writes of its group follow that.
    mutating func update(_ key: [UInt8], _ write: Write) {
        guard let index = updates[key].flatMap({ Self.replaceable(write.aspect, in: $0) }) else {
            return updates[key, default: []].append(write)
        }
        updates[key]?[index] = write
    }

    private static func replaceable(_ aspect: [UInt8], in writes: [Write]) -> Int? {
        guard let last = writes.last else { return nil }
        if last.aspect == aspect { return writes.count - 1 }
        guard let group = last.group else { return nil }
        for (index, write) in writes.enumerated().reversed() {
            guard write.group == group else { return nil }
            if write.aspect == aspect { return index }
        }
        return nil
    }

    mutating func add(_ values: SQL, _ insertion: Insertion, at time: Int) {
        if firstInsertion == nil { firstInsertion = time }
        if insertions.last?.insertion == insertion {
            insertions[insertions.count - 1].rows.append(values)
        } else {
            insertions.append((insertion, [values]))
        }
    }

    /// Returns the statements of the writes, which are no longer deferred then.
    ///
    /// - Parameters:
    ///   - keys: Only the updates of these rows; empty for all.
    ///   - insertions: Whether to take the insertions.
    ///   - rowsAtOnce: The most rows in one statement.
    mutating func take(for keys: [[UInt8]], insertions: Bool, rowsAtOnce: Int) -> [SQL] {
        var statements = insertions ? takeInsertions(rowsAtOnce) : []
        var groups: [CommitGroup: [Write]] = [:]
        for key in keys.isEmpty ? Array(updates.keys) : keys {
            let writes = updates.removeValue(forKey: key) ?? []
            if let group = writes.first?.group, writes.allSatisfy({ $0.group == group }) {
                groups[group, default: []] += writes
            } else {
                for write in writes { statements += write.statements([write.value]) }
            }
        }
        for writes in groups.values { statements += writes[0].statements(writes.map(\.value)) }
        return statements
    }

    mutating func clear() {
        updates.removeAll(keepingCapacity: true)
        insertions.removeAll(keepingCapacity: true)
        firstInsertion = nil
    }

    /// Returns the statements of the first insertions that fill statements.
    mutating func takeFullInsertions() -> [SQL] {
        var statements: [SQL] = []
        while let (insertion, rows) = insertions.first, rows.count >= Self.rowsAtOnce {
            insertions.removeFirst()
            let count = rows.count - rows.count % Self.rowsAtOnce
            if count < rows.count { insertions.insert((insertion, Array(rows[count...])), at: 0) }
            for chunk in Array(rows[..<count]).chunks(of: Self.rowsAtOnce) {
                statements.append(statement(insertion, adding: chunk))
            }
        }
        return statements
    }

    private mutating func takeInsertions(_ rowsAtOnce: Int) -> [SQL] {
        var statements: [SQL] = []
        for (insertion, rows) in insertions {
            if rowsAtOnce == 1 {
                statements += self.statements(insertion, adding: rows)
            } else {
                for chunk in rows.powerOfTwoChunks(upTo: rowsAtOnce) {
                    statements.append(statement(insertion, adding: chunk))
                }
            }
        }
        insertions.removeAll(keepingCapacity: true)
        firstInsertion = nil
        return statements
    }

    /// A statement for each row; rows that follow each other mostly have one form.
    private mutating func statements(_ insertion: Insertion, adding rows: [SQL]) -> [SQL] {
        var last: (row: StatementTemplate, statement: StatementTemplate)?
        return rows.map { row in
            guard let known = last, known.row == row.template else {
                let sql = statement(insertion, adding: [row])
                last = (row.template, sql.template)
                return sql
            }
            return SQL(template: known.statement, values: insertion.values(adding: [row]))
        }
    }

    /// The number and the text of rows that a statement inserts.
    private struct RowForm: Hashable {
        let insertion: Insertion
        let row: StatementTemplate
        let count: Int
    }

    private mutating func statement(_ insertion: Insertion, adding rows: [SQL]) -> SQL {
        guard let row = rows.first?.template, rows.allSatisfy({ $0.template == row }) else {
            return insertion.sql(adding: rows)
        }
        let form = RowForm(insertion: insertion, row: row, count: rows.count)
        if let template = templates[form] {
            return SQL(template: template, values: insertion.values(adding: rows))
        }
        let sql = insertion.sql(adding: rows)
        if templates.count >= Self.templateLimit { templates.removeAll() }
        templates[form] = sql.template
        return sql
    }
}

/// An `INSERT` statement around the rows it inserts.
///
/// ```swift
/// Insertion("INSERT INTO people (id, name) VALUES", "ON CONFLICT (id) DO NOTHING")
/// ```
public struct Insertion: Hashable, Sendable {
    private let front: SQL
    private let back: SQL

    /// - Parameters:
    ///   - front: The statement up to and including `VALUES`.
    ///   - back: The statement after the rows.
    public init(_ front: SQL, _ back: SQL = "") {
        self.front = front
        self.back = back
    }

    /// The values of the statement with these rows.
    func values(adding rows: [SQL]) -> [SQLValue] {
        if rows.count == 1, front.values.isEmpty, back.values.isEmpty { return rows[0].values }
        return front.values + rows.flatMap(\.values) + back.values
    }

    func sql(adding rows: [SQL]) -> SQL {
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
