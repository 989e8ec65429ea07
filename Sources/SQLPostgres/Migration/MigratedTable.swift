import SQL

/// A table that is copied from one database to another.
public struct MigratedTable: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The number of rows.
    public let rows: Int64
    let columns: [String]
    /// The columns of a unique key; empty when there is none.
    let key: [String]

    private var all: String { columns.joined(separator: ", ") }

    /// Selects rows of the file in `rowid` order, after a given one.
    func batch(after row: Int64, limit: Int) -> SQL {
        var sql = SQL(
            stringLiteral:
                "SELECT rowid, \(all) FROM \(name) WHERE rowid > $1 ORDER BY rowid LIMIT \(limit)")
        sql.values = [.integer(row)]
        return sql
    }

    /// Counts the rows of the file up to a `rowid`.
    func count(through row: Int64) -> SQL {
        var sql = SQL(stringLiteral: "SELECT COUNT(*) FROM \(name) WHERE rowid <= $1")
        sql.values = [.integer(row)]
        return sql
    }

    /// Inserts rows.
    func insertion(of rows: ArraySlice<[SQLValue]>) -> SQL {
        var sql = SQL(stringLiteral: "INSERT INTO \(name) (\(all)) VALUES \(Self.rowValues(rows))")
        sql.values = rows.flatMap(\.self)
        return sql
    }

    /// Analyses the table, so that the planner uses its indexes.
    var analysis: SQL { SQL(stringLiteral: "ANALYZE \(name)") }

    /// Selects the copies of rows by their key; without a key, equal rows and their number.
    ///
    /// Nothing is ordered by text, because the engines order U+0000 differently.
    func copies(of rows: [[SQLValue]]) -> SQL {
        key.isEmpty ? equalRows(of: rows) : rowsByKey(of: rows)
    }

    private func rowsByKey(of rows: [[SQLValue]]) -> SQL {
        let named = key.compactMap(columns.firstIndex)
        let keys = rows.map { row in named.map { index in row[index] } }[...]
        let equal = key.enumerated().map { "t.\($1) = k.column\($0 + 1)" }
        var sql = SQL(
            stringLiteral: """
                SELECT \(columns.map { "t.\($0)" }.joined(separator: ", ")) FROM \(name) t
                JOIN (VALUES \(Self.rowValues(keys))) k ON \(equal.joined(separator: " AND "))
                """)
        sql.values = keys.flatMap(\.self)
        return sql
    }

    private func equalRows(of rows: [[SQLValue]]) -> SQL {
        var (conditions, values): ([String], [SQLValue]) = ([], [])
        for row in rows {
            let equal = zip(columns, row).map { column, value in
                values.append(value)
                // `=` finds no NULL, and `IS NOT DISTINCT FROM` uses no index.
                return "\(column) IS NOT DISTINCT FROM $\(values.count)"
            }
            conditions.append("(\(equal.joined(separator: " AND ")))")
        }
        var sql = SQL(
            stringLiteral: """
                SELECT \(all), COUNT(*) FROM \(name)
                WHERE \(conditions.joined(separator: " OR ")) GROUP BY \(all)
                """)
        sql.values = values
        return sql
    }

    /// `($1, $2), ($3, $4)` …
    private static func rowValues(_ rows: ArraySlice<[SQLValue]>) -> String {
        var number = 0
        return rows.map { row in
            let placeholders = row.map { _ in
                number += 1
                return "$\(number)"
            }
            return "(\(placeholders.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    /// The number of values in a selected row.
    var width: Int { columns.count + (key.isEmpty ? 1 : 0) }

    /// Counts all rows.
    var count: SQL { SQL(stringLiteral: "SELECT COUNT(*) FROM \(name)") }

    /// Selects any row.
    var anyRow: SQL { SQL(stringLiteral: "SELECT 1 FROM \(name) LIMIT 1") }
}

extension Transaction {
    /// The first table of the server's schema that is not among the given ones; `nil` when there is none.
    func table(besides names: [String]) throws -> String? {
        let found = try rows(
            """
            SELECT relname::text FROM pg_class
            WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
                AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
            ORDER BY relname
            """
        ) { row in try row.text(0) }
        return found.first { name in name != "schema_migrations" && !names.contains(name) }
    }

    /// All tables of the file except the schema migrations, by name.
    func fileTables() throws -> [MigratedTable] {
        let names = try rows(
            """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' AND name <> 'schema_migrations'
            ORDER BY name
            """
        ) { row in try row.text(0) }
        return try names.map { name in
            let columns = try rows(
                "SELECT name FROM pragma_table_info(\(name)) ORDER BY cid"
            ) { row in try row.text(0) }
            let key = try rows(
                """
                SELECT c.name FROM pragma_index_info((
                    SELECT i.name FROM pragma_index_list(\(name)) i
                    WHERE i."unique" = 1 AND i.partial = 0 AND NOT EXISTS (
                        SELECT 1 FROM pragma_index_info(i.name) c
                        JOIN pragma_table_info(\(name)) t ON t.name = c.name
                        WHERE t."notnull" = 0
                    )
                    ORDER BY i.seq LIMIT 1
                )) c ORDER BY c.seqno
                """
            ) { row in try row.text(0) }
            let count = try first(SQL(stringLiteral: "SELECT COUNT(*) FROM \(name)")) {
                row in try row.int64(0)
            }
            return MigratedTable(name: name, rows: count ?? 0, columns: columns, key: key)
        }
    }
}
