import Blobs
import FoundationEssentials
import MessagingStore
import Uploads

/// The layout of a data folder, and of a backup, which is the same.
struct DataFolder {
    let path: String

    static let database = "parley.sqlite"
    static let downloadKeys = "download-keys"

    /// The database's file.
    var database: String { "\(path)/\(Self.database)" }

    /// The folder of uploads.
    var uploads: String { "\(path)/uploads" }

    /// The folder of contents and archives.
    func blobs() throws(DiskError) -> BlobFolder { try BlobFolder(at: "\(uploads)/blobs") }

    /// The keys that sign download URLs; `nil` before the first start.
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
    /// Rejects a folder that was not restored completely.
    func requireWhole() throws(CommandFailure) {
        guard !DraftFolder.isUnfinished(path) else {
            throw CommandFailure(
                "the data folder \(path) is not restored completely: run parley restore again")
        }
    }

    /// Rejects a folder without a database, instead of creating an empty one in a misspelt folder.
    func requireDatabase(making: Bool) throws(CommandFailure) {
        // First: a restore writes the contents before the database.
        try requireWhole()
        guard !FileManager.default.fileExists(atPath: database) else { return }
        guard making else { throw CommandFailure("there is no database in \(path)") }
        try CommandFailure.naming(path) { try DraftFolder.make(path) }
    }

    /// Rejects a folder that cannot be created, or in which no files can be created.
    func requireWritable() throws(CommandFailure) {
        try CommandFailure.naming(path) { try FolderLock.check(folder: path) }
    }

    /// Rejects download keys that cannot be read; a folder without any gets them at the first start.
    func requireDownloadKeys() throws(CommandFailure) {
        try CommandFailure.naming(path) { try SigningKeys.check(folder: path) }
    }
}

extension DraftFolder {
    /// Removes a database that an earlier attempt has left.
    func removeDatabase() throws(DiskError) {
        for suffix in ["", "-wal", "-shm", "-journal"] { try remove(DataFolder.database + suffix) }
    }
}

extension MessagingStore {
    private static let batchSize = 100

    /// Calls `work` for each stored file, in batches.
    func forEachStoredFile(_ work: (StoredFile) async throws -> Void) async throws {
        var last: StoredFile.Key?
        repeat {
            let files = try await storedFiles(after: last, limit: Self.batchSize)
            for file in files {
                try Task.checkCancellation()
                try await work(file)
            }
            last = files.count == Self.batchSize ? files.last?.key : nil
        } while last != nil
    }
}
