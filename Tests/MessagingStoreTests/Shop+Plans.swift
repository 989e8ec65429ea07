import SQL

@testable import MessagingStore

extension Shop {
    /// How the database runs a statement, in its own words.
    func plan(of statement: SQL) async throws -> String {
        try await database.read { transaction in
            try onSQLite
                ? transaction.rows("EXPLAIN QUERY PLAN \(statement)") { row in try row.text(3) }
                : transaction.rows("EXPLAIN \(statement)") { row in try row.text(0) }
        }.joined(separator: "\n")
    }
}

extension SQL.StringInterpolation {
    /// An id of sixteen bytes for the value of a column, in the words of the engine.
    mutating func appendInterpolation(number column: StaticString) {
        appendLiteral(
            onSQLite
                ? "CAST(printf('%016d', \(column)) AS BLOB)"
                : "decode(lpad(to_hex(\(column)), 32, '0'), 'hex')")
    }
}
