/// A table that is moved from one database to another.
public struct MovedTable: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// How many rows it has.
    public let rows: Int64
    let columns: [String]
    /// Columns that tell its rows apart; empty where nothing does.
    let key: [String]

    private var all: String { columns.joined(separator: ", ") }

    /// Rows as they lie in the file, from one on.
    func stretch(after row: Int64, limit: Int) -> SQL {
        var sql = SQL(
            stringLiteral:
                "SELECT rowid, \(all) FROM \(name) WHERE rowid > $1 ORDER BY rowid LIMIT \(limit)")
        sql.values = [.integer(row)]
        return sql
    }

    /// How many rows lie in the file up to one.
    func count(through row: Int64) -> SQL {
        var sql = SQL(stringLiteral: "SELECT COUNT(*) FROM \(name) WHERE rowid <= $1")
        sql.values = [.integer(row)]
        return sql
    }

    /// Adds rows.
    func insertion(of rows: ArraySlice<[SQLValue]>) -> SQL {
        var sql = SQL(stringLiteral: "INSERT INTO \(name) (\(all)) VALUES \(Self.places(rows))")
        sql.values = rows.flatMap(\.self)
        return sql
    }

    /// Counts its rows for the planner, so that few of them are found by their index.
    var analysis: SQL { SQL(stringLiteral: "ANALYZE \(name)") }

    /// Finds rows by what tells them apart; where nothing does, equal ones, and how many of them there are.
    ///
    /// Nothing is ordered by text: engines differ about it where text holds U+0000.
    func likes(of rows: [[SQLValue]]) -> SQL {
        key.isEmpty ? equals(of: rows) : namesakes(of: rows)
    }

    private func namesakes(of rows: [[SQLValue]]) -> SQL {
        let named = key.compactMap(columns.firstIndex)
        let keys = rows.map { row in named.map { place in row[place] } }[...]
        let equal = key.enumerated().map { "t.\($1) = k.column\($0 + 1)" }
        var sql = SQL(
            stringLiteral: """
                SELECT \(columns.map { "t.\($0)" }.joined(separator: ", ")) FROM \(name) t
                JOIN (VALUES \(Self.places(keys))) k ON \(equal.joined(separator: " AND "))
                """)
        sql.values = keys.flatMap(\.self)
        return sql
    }

    private func equals(of rows: [[SQLValue]]) -> SQL {
        var (conditions, values): ([String], [SQLValue]) = ([], [])
        for row in rows {
            let equal = zip(columns, row).map { column, value in
                values.append(value)
                // The other comparison finds no NULL, and this one no index.
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
    private static func places(_ rows: ArraySlice<[SQLValue]>) -> String {
        var number = 0
        return rows.map { row in
            let places = row.map { _ in
                number += 1
                return "$\(number)"
            }
            return "(\(places.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    /// How many values such a row has.
    var width: Int { columns.count + (key.isEmpty ? 1 : 0) }

    /// Counts all rows.
    var count: SQL { SQL(stringLiteral: "SELECT COUNT(*) FROM \(name)") }

    /// Looks for any row.
    var anything: SQL { SQL(stringLiteral: "SELECT 1 FROM \(name) LIMIT 1") }
}

extension Transaction {
    /// What a server's schema has besides some tables and their history, in the order of names; `nil` for
    /// nothing.
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
}

extension SQLiteConnection {
    /// All tables but the history, by name.
    func tables(_ transaction: Transaction) throws -> [MovedTable] {
        let names = try transaction.rows(
            """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' AND name <> 'schema_migrations'
            ORDER BY name
            """
        ) { row in try row.text(0) }
        return try names.map { name in
            let columns = try transaction.rows(
                "SELECT name FROM pragma_table_info(\(name)) ORDER BY cid"
            ) { row in try row.text(0) }
            let key = try transaction.rows(
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
            let count = try transaction.first(SQL(stringLiteral: "SELECT COUNT(*) FROM \(name)")) {
                row in try row.int64(0)
            }
            return MovedTable(name: name, rows: count ?? 0, columns: columns, key: key)
        }
    }
}
