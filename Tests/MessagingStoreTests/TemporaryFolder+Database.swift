import SQL
import TestSupport

extension TemporaryFolder {
    /// Where a database lies that is opened twice.
    var database: DatabaseLocation {
        PostgresServer.isChosen
            ? .server(PostgresServer.shared.schema(of: path)) : .file(path + "/parley.db")
    }
}
