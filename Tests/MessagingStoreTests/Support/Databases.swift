import SQL
import SQLPostgres
import TestSupport

extension DatabaseLocation {
    /// A database of a test's own, on the engine these tests run on.
    static func scratch() -> DatabaseLocation {
        PostgresServer.isChosen ? .server(PostgresServer.shared.newSchema()) : .temporary
    }

    /// Takes a server's tables away; a file goes with its folder.
    func clear() {
        if case .server(let url) = self { PostgresServer.shared.drop(url) }
    }
}

/// Tests that look into how SQLite runs a statement; the same text is run by PostgreSQL, which asks its
/// statistics, and those of a handful of rows say nothing.
let onSQLite = !PostgresServer.isChosen

extension TemporaryFolder {
    /// Where a database lies that is opened twice.
    var database: DatabaseLocation {
        PostgresServer.isChosen
            ? .server(PostgresServer.shared.schema(of: path)) : .file(path + "/parley.db")
    }
}
