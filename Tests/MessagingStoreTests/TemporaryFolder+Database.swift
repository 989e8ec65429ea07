import SQL
import TestSupport

extension TemporaryFolder {
    /// Where a database lies that is opened twice.
    var database: DatabaseLocation { .file(path + "/parley.db") }
}
