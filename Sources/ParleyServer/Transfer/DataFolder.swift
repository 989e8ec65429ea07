import Blobs
import FoundationEssentials
import MessagingStore

/// What lies where in a data folder, and in a backup, which is laid out alike.
struct DataFolder {
    let path: String

    static let database = "parley.sqlite"
    static let downloadKeys = "download-keys"

    /// The database's file.
    var database: String { "\(path)/\(Self.database)" }

    /// What uploads keep.
    var uploads: String { "\(path)/uploads" }

    /// Contents and archives.
    func blobs() throws(DiskError) -> BlobFolder { try BlobFolder(at: "\(uploads)/blobs") }

    /// What signs download URLs; `nil` before the first start.
    func downloadKeys() throws(DiskError) -> BlobFile? {
        do throws(DiskError) {
            return try BlobFile(at: "\(path)/\(Self.downloadKeys)")
        } catch {
            if error.kind == .missing { return nil }
            throw error
        }
    }
}

extension DataFolder {
    /// Half of what was saved is no database to go on with.
    func requireWhole() throws(CommandFailure) {
        guard !DraftFolder.isUnfinished(path) else {
            throw CommandFailure(
                "the data folder \(path) is half restored: call parley restore again")
        }
    }

    /// A command that is told a wrong folder says so, instead of making an empty database there.
    func requireDatabase(making: Bool) throws(CommandFailure) {
        // First: a restore brings the contents before the database.
        try requireWhole()
        guard !FileManager.default.fileExists(atPath: database) else { return }
        guard making else { throw CommandFailure("there is no database in \(path)") }
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("the data folder \(path) cannot be made")
        }
    }
}

extension DraftFolder {
    /// Removes a database that an earlier attempt has left.
    func removeDatabase() throws(DiskError) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try remove(DataFolder.database + suffix) }
    }
}

extension MessagingStore {
    private static let stretch = 100

    /// Does something with each file beside the database, a stretch at a time.
    func forEachKeptFile(_ work: (StoredFile) async throws -> Void) async throws {
        var place: StoredFile.Place?
        repeat {
            let files = try await storedFiles(after: place, limit: Self.stretch)
            for file in files {
                try Task.checkCancellation()
                try await work(file)
            }
            place = files.count == Self.stretch ? files.last?.place : nil
        } while place != nil
    }
}
