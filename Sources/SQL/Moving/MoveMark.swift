/// How far a database has been filled from another; stands in its history, so that every program
/// refuses it until it is whole.
///
/// It moves on in the transaction that adds rows, so what it says is true after a crash.
struct MoveMark: Equatable {
    /// The number no migration has.
    static let number = 0

    /// The table that is being filled, and the last row of the file that is there; tables before it,
    /// by name, are whole.
    var table: String
    var row: Int64

    var text: String { "\(table) \(row)" }

    init(table: String, row: Int64) {
        self.table = table
        self.row = row
    }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let row = Int64(words[1]) else { return nil }
        self.init(table: String(words[0]), row: row)
    }
}

extension Transaction {
    /// The mark of a database that is not whole; `nil` for a whole one.
    func moveMark() throws -> MoveMark? {
        try first("SELECT name FROM schema_migrations WHERE number = \(MoveMark.number)") { row in
            guard let mark = MoveMark(try row.text(0)) else {
                throw SQLError(.schema, "migration 0 is '\(try row.text(0))' and no mark")
            }
            return mark
        }
    }

    func begin(_ mark: MoveMark, at moment: Int64) throws {
        try execute(
            """
            INSERT INTO schema_migrations (number, name, applied_at)
            VALUES (\(MoveMark.number), \(mark.text), \(moment))
            """)
    }

    /// Moves it on, unless somebody else has.
    func advance(_ mark: MoveMark, to next: MoveMark) throws {
        let count = try rowsChanged(
            by: """
                UPDATE schema_migrations SET name = \(next.text)
                WHERE number = \(MoveMark.number) AND name = \(mark.text)
                """)
        guard count == 1 else {
            throw SQLError(.collided, "another process fills the database")
        }
    }

    func removeMoveMark() throws {
        try execute("DELETE FROM schema_migrations WHERE number = \(MoveMark.number)")
    }
}
