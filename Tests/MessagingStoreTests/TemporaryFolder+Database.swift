import SQL
import TestSupport

extension TemporaryFolder {
    /// Where a database lies that is opened twice.
    var database: DatabaseLocation {
        guard PostgresServer.isChosen else { return .file(path + "/parley.db") }
        let name = path.suffix(36).lowercased().replacing("-", with: "_")
        return .server(PostgresServer.shared.schema(named: "folder_\(name)"))
    }
}
