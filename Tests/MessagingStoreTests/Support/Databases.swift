import SQL
import SQLPostgres
import TestSupport

/// The location of a database for one test, on the engine of this test run: a given one, or an empty database. What is
/// opened there must be closed before the last copy goes.
struct TestDatabase {
    let location: DatabaseLocation
    let schema: BorrowedSchema?

    init(at known: DatabaseLocation? = nil) {
        schema = known == nil && PostgresServer.isChosen ? BorrowedSchema() : nil
        location = known ?? schema.map { schema in .server(schema.url) } ?? .temporary
    }
}

/// Whether the engine is SQLite. Tests of query plans run on it only: PostgreSQL plans by statistics, which
/// mean nothing for a few rows.
let onSQLite = !PostgresServer.isChosen

extension TemporaryFolder {
    /// A database in this folder, which can be opened twice.
    var database: DatabaseLocation {
        PostgresServer.isChosen
            ? .server(PostgresServer.shared.schema(of: path)) : .file(path + "/parley.db")
    }
}
