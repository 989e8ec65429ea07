import SQL
import SQLPostgres
import TestSupport

extension DatabaseLocation {
    /// An empty database for one test, on the engine of this test run.
    static func scratch() -> DatabaseLocation {
        PostgresServer.isChosen ? .server(PostgresServer.shared.newSchema()) : .temporary
    }

    /// Drops the schema on a server; a file is deleted with its folder.
    func clear() {
        if case .server(let url) = self { PostgresServer.shared.drop(url) }
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
