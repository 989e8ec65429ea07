import Glibc

@testable import SQL
@testable import SQLPostgres

/// A database file that can be closed and opened again; deleted with this object.
final class TemporaryFile: Sendable {
    private let folder: TemporaryFolder
    let path: String

    init() {
        guard let folder = try? TemporaryFolder() else { preconditionFailure("no folder in /tmp") }
        self.folder = folder
        path = "\(folder.path)/database"
    }

    func open(
        migrations: [SchemaMigration] = People.migrations,
        settings: DatabaseSettings = DatabaseSettings()
    ) throws -> Database {
        try Database.open(.file(path), migrations: migrations, settings: settings)
    }

    /// Overwrites a part of the file, or creates it.
    func overwrite(from offset: Int, with bytes: [UInt8]) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
        defer { Glibc.close(descriptor) }
        _ = pwrite(descriptor, bytes, bytes.count, off_t(offset))
    }

    /// The size in bytes of a file beside the database; `nil` when there is none.
    func size(of suffix: String) -> Int? {
        var status = stat()
        return stat(path + suffix, &status) == 0 ? Int(status.st_size) : nil
    }
}
