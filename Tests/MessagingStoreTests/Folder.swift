import FoundationEssentials
import SQL

/// A folder that lasts as long as this object, for databases that are opened twice.
final class Folder: Sendable {
    private let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/parley-store-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        // A folder left behind under /tmp harms nobody.
        try? FileManager.default.removeItem(atPath: path)
    }

    var database: DatabaseLocation { .file(path + "/parley.db") }
}
