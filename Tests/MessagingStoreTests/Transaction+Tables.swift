import SQL

extension Transaction {
    /// The names of all tables.
    func tables() throws -> [String] {
        let words: SQL =
            onSQLite
            ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            : "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        return try rows(words) { row in try row.text(0) }
    }

    /// The columns of a table, as they stand in it.
    func columns(of table: String) throws -> [String] {
        let words: SQL =
            onSQLite
            ? "SELECT name FROM pragma_table_info(\(table))"
            : """
            SELECT attname FROM pg_attribute
            WHERE attrelid = to_regclass(\(table)) AND attnum > 0 AND NOT attisdropped
            ORDER BY attnum
            """
        return try rows(words) { row in try row.text(0) }
    }
}
