/// What the changes of one transaction know of rows, and what they have still to write.
///
/// A statement that names a table finds everything written that was postponed for it, and after one that
/// changes a table nothing is known of it any more. So nobody has to know who takes notes.
final class Notebook {
    /// An answer, and when it was given.
    private struct Known {
        let answer: AnyObject
        let rows: [RowKey]
        let moment: Int
    }

    /// Counts what changes rows.
    private var moment = 0
    private var facts: [FactName: Known] = [:]
    private var changedTables: [String: Int] = [:]
    private var changedRows: [RowKey: Int] = [:]
    private var pages: [String: Page] = [:]
    /// The tables with a page that statements name, looked for once in each.
    private var tables: [Phrase: [String]] = [:]
    /// As many statements are prepared at once, too.
    private static let phraseLimit = 256

    /// What is known; `nil` when nothing is, or when it may have changed.
    func answer<Value>(to fact: Fact<Value>) -> Finding<Value>? {
        guard let known = facts[fact.name],
            known.rows.allSatisfy({ row in
                changedTables[row.table, default: 0] <= known.moment
                    && changedRows[row, default: 0] <= known.moment
            })
        else { return nil }
        return known.answer as? Finding<Value>
    }

    func know<Value>(_ answer: Finding<Value>, of fact: Fact<Value>) {
        for row in fact.rows { track(row.table) }
        facts[fact.name] = Known(answer: answer, rows: fact.rows, moment: moment)
    }

    /// Makes nobody believe any more what was known of a row.
    func doubt(_ row: RowKey) {
        moment += 1
        changedRows[row] = moment
    }

    /// What somebody remembers of what is still to be written of a row.
    func postponed<Value>(_ fact: Fact<Value>) -> Value? {
        let row = fact.name.row
        return pages[row.table]?[row.key]?.value as? Value
    }

    func postpone<Value>(_ value: Value, of fact: Fact<Value>, writing sql: @escaping () -> SQL) {
        let row = fact.name.row
        track(row.table)
        pages[row.table]?[row.key] = Page.Write(value: value, sql: sql)
    }

    /// Adds a row later.
    func add(_ values: SQL, _ row: RowKey, by insertion: Insertion) {
        track(row.table)
        pages[row.table]?.add(values, row.key, insertion)
        doubt(row)
    }

    /// Has a statement find what is written, and makes nobody believe what it changes.
    ///
    /// - Parameter rows: The only ones of their tables that it looks at.
    func prepare(
        for sql: SQL, about rows: [RowKey] = [], on connection: any Connection
    ) throws(SQLError) {
        guard !pages.isEmpty else { return }
        for table in tables(in: sql.phrase) {
            if pages[table]?.isEmpty == false {
                let keys = rows.filter { row in row.table == table }.map(\.key)
                try pages[table]?.write(keys, on: connection)
            }
            if !sql.phrase.isSelect {
                moment += 1
                changedTables[table] = moment
            }
        }
    }

    /// Writes everything that was postponed; what is known stays true.
    func writeAll(on connection: any Connection) throws(SQLError) {
        for table in pages.keys.sorted() { try pages[table]?.write([], on: connection) }
    }

    /// Forgets everything, as a transaction does that is undone or has ended.
    func clear() {
        guard moment > 0 || !facts.isEmpty || pages.values.contains(where: { !$0.isEmpty }) else {
            return
        }
        facts.removeAll(keepingCapacity: true)
        changedTables.removeAll(keepingCapacity: true)
        changedRows.removeAll(keepingCapacity: true)
        for table in pages.keys { pages[table]?.clear() }
        moment = 0
    }

    private func track(_ table: String) {
        guard pages[table] == nil else { return }
        pages[table] = Page()
        tables.removeAll()
    }

    private func tables(in phrase: Phrase) -> [String] {
        if let known = tables[phrase] { return known }
        if tables.count >= Self.phraseLimit { tables.removeAll() }
        let found = pages.keys.filter(phrase.names).sorted()
        tables[phrase] = found
        return found
    }
}
