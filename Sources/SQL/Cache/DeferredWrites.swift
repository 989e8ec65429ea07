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
    private var insertions: [(insertion: Insertion, rows: [[SQLValue]])] = []
    /// The time of the first of them by the clock of the cache; `nil` for none.
    private(set) var firstInsertion: Int?
    /// The statements that insert rows of one form, so that their texts are neither built nor compared again.
    private var templates: [RowForm: StatementTemplate] = [:]

    /// A statement to run.
    enum Statement {
        case once(SQL)
        /// With each of these values in turn.
        case each(StatementTemplate, [[SQLValue]])

        var template: StatementTemplate {
            switch self {
            case .once(let sql): sql.template
            case .each(let template, _): template
            }
        }
    }
    /// Bounds `templates`.
    private static let templateLimit = 64

    /// The number of rows that a long change sends a server at once.
    private static let sentRows = 64

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

    mutating func add(_ rows: [InsertedRow], _ insertion: Insertion, at time: Int) {
        if firstInsertion == nil { firstInsertion = time }
        if insertions.last?.insertion != insertion { insertions.append((insertion, [])) }
        for row in rows { insertions[insertions.count - 1].rows.append(row.values) }
    }

    /// Returns the statements of the writes, which are no longer deferred then.
    ///
    /// - Parameters:
    ///   - keys: Only the updates of these rows; empty for all.
    ///   - insertions: Whether to take the insertions.
    ///   - together: Whether a statement inserts many rows. On a file that saves nothing.
    mutating func take(for keys: [[UInt8]], insertions: Bool, together: Bool) -> [Statement] {
        var statements = insertions ? takeInsertions(together: together) : []
        var groups: [CommitGroup: [Write]] = [:]
        for key in keys.isEmpty ? Array(updates.keys) : keys {
            let writes = updates.removeValue(forKey: key) ?? []
            if let group = writes.first?.group, writes.allSatisfy({ $0.group == group }) {
                groups[group, default: []] += writes
            } else {
                for write in writes {
                    statements += write.statements([write.value]).map(Statement.once)
                }
            }
        }
        for writes in groups.values {
            statements += writes[0].statements(writes.map(\.value)).map(Statement.once)
        }
        return statements
    }

    mutating func clear() {
        updates.removeAll(keepingCapacity: true)
        insertions.removeAll(keepingCapacity: true)
        firstInsertion = nil
    }

    /// Returns the statements of the first insertions that have many rows.
    mutating func takeFullInsertions() -> [Statement] {
        var statements: [Statement] = []
        while let (insertion, rows) = insertions.first, rows.count >= Self.sentRows {
            insertions.removeFirst()
            let count = rows.count - rows.count % Self.sentRows
            if count < rows.count { insertions.insert((insertion, Array(rows[count...])), at: 0) }
            statements.append(statement(insertion, of: Array(rows[..<count]), together: true))
        }
        return statements
    }

    private mutating func takeInsertions(together: Bool) -> [Statement] {
        let statements = insertions.map { insertion, rows in
            statement(insertion, of: rows, together: together)
        }
        insertions.removeAll(keepingCapacity: true)
        firstInsertion = nil
        return statements
    }

    /// The text of the rows that a statement inserts.
    private enum RowForm: Hashable {
        /// Of one row with a number of columns.
        case row(Insertion, columns: Int)
        /// Of arrays; see ``Insertion/template(ofArrays:)``.
        case arrays(Insertion, areEmpty: [Bool])
    }

    private mutating func statement(
        _ insertion: Insertion, of rows: [[SQLValue]], together: Bool
    ) -> Statement {
        if together, rows.count > 1, let sql = arrayStatement(insertion, of: rows) {
            return .once(sql)
        }
        let count = rows.first?.count ?? 0
        return .each(
            template(.row(insertion, columns: count)) { insertion.template(ofColumns: count) }, rows
        )
    }

    /// The statement with one array for each column, whose text and plan do not depend on the number of rows; `nil` if
    /// a column has values of different types.
    private mutating func arrayStatement(_ insertion: Insertion, of rows: [[SQLValue]]) -> SQL? {
        var arrays: [SQLValue] = []
        var areEmpty: [Bool] = []
        for index in rows[0].indices {
            let column = rows.map { row in row[index] }
            let type = column.first { value in !value.isNull }
            areEmpty.append(type == nil)
            guard let type else { continue }
            guard column.allSatisfy({ value in value.isNull || value.hasType(of: type) }) else {
                return nil
            }
            arrays.append(.array(.values(column)))
        }
        guard !arrays.isEmpty else { return nil }
        let template = template(.arrays(insertion, areEmpty: areEmpty)) {
            insertion.template(ofArrays: areEmpty)
        }
        return SQL(template: template, values: arrays)
    }

    private mutating func template(
        _ form: RowForm, _ make: () -> StatementTemplate
    ) -> StatementTemplate {
        if let template = templates[form] { return template }
        let template = make()
        if templates.count >= Self.templateLimit { templates.removeAll() }
        templates[form] = template
        return template
    }
}
