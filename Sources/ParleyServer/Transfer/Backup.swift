import Blobs
import Bytes
import Messaging
import MessagingStore
import SQL
import SQLPostgres
import Uploads

/// Copies a folder's database and all files it refers to, while a server may be running.
///
/// First the database is copied as of one moment, then its files. If the server deletes one in
/// between, the backup starts over from a later moment; so the database and the files of a backup
/// match.
struct Backup {
    let source: DataFolder
    let draft: DraftFolder
    let bucket: ContentBucket?
    let bucketName: String?
    let now: Timestamp
    /// Called with the bytes copied and the total.
    let progress: (Int64, Int64) -> Void

    /// A server deletes contents a few times an hour: four failures in a row are no coincidence.
    private static let attempts = 4

    /// - Returns: The manifest of the finished backup.
    func run() async throws -> BackupManifest {
        for _ in 1..<Self.attempts {
            do { return try await attempt() } catch is MissingFile {}
        }
        do { return try await attempt() } catch let missing as MissingFile {
            throw CommandFailure("\(missing.file.title) is missing in \(source.path)")
        }
    }

    /// A file that was deleted meanwhile, or is lost.
    private struct MissingFile: Error { let file: StoredFile }

    private func attempt() async throws -> BackupManifest {
        let target = DataFolder(path: draft.path)
        try draft.removeDatabase()
        try draft.make(DataFolder.database)
        try Database.copy(
            file: source.database, to: target.database, migrations: MessagingStore.migrations
        ) { done, total in progress(done, total) }
        let copier = BlobCopier(source: try source.blobs(), target: try target.blobs())
        var (files, inBucket) = (BackupManifest.Amount(), BackupManifest.Amount())
        try await withDatabase(of: target) { store, size in
            let total = size + (try await store.storedFileBytes())
            try await store.forEachStoredFile { file in
                if try copier.copy(file) != .missing {
                    files.add(file.size)
                } else if try await isInBucket(file) {
                    inBucket.add(file.size)
                } else {
                    throw MissingFile(file: file)
                }
                progress(size + files.size + inBucket.size, total)
            }
        }
        if let keys = try source.downloadKeys() {
            try draft.copy(keys, to: DataFolder.downloadKeys)
        }
        let database = try BlobFile(at: target.database)
        let manifest = BackupManifest(
            madeAt: now,
            database: .init(
                size: database.size, sha256: String(hexadecimal: try database.digest())),
            files: files, bucket: bucketName, inBucket: inBucket)
        try manifest.write(to: draft.path)
        try draft.finish()
        return manifest
    }

    private func isInBucket(_ file: StoredFile) async throws -> Bool {
        guard let bucket else { return false }
        return try await bucket.size(of: file.nameInBucket) == file.size
    }

    private func withDatabase<Value>(
        of folder: DataFolder, _ work: (MessagingStore, Int64) async throws -> Value
    ) async throws -> Value {
        let size = try BlobFile(at: folder.database).size
        let database = try Database.open(
            .file(folder.database), migrations: MessagingStore.migrations)
        // Closing writes the log into the database file, whose size is measured afterwards.
        defer { database.close() }
        return try await work(MessagingStore(database: database), size)
    }
}

/// Restores a backup into an empty folder and verifies every byte.
struct BackupRestorer {
    let source: DataFolder
    let manifest: BackupManifest
    let draft: DraftFolder
    let bucket: ContentBucket?
    /// Called with the bytes restored and the total.
    let progress: (Int64, Int64) -> Void

    /// Restores the backup; until this returns no server uses the folder.
    func run() async throws {
        let target = DataFolder(path: draft.path)
        let total = manifest.database.size + manifest.files.size + manifest.inBucket.size
        try restoreDatabase(to: target)
        progress(manifest.database.size, total)
        let copier = BlobCopier(source: try source.blobs(), target: try target.blobs())
        let database = try Database.open(
            .file(target.database), migrations: MessagingStore.migrations)
        defer { database.close() }
        var (files, inBucket) = (BackupManifest.Amount(), BackupManifest.Amount())
        let store = MessagingStore(database: database)
        try await store.forEachStoredFile { file in
            if try copier.copy(file) != .missing {
                files.add(file.size)
            } else {
                try await requireInBucket(file)
                inBucket.add(file.size)
            }
            progress(manifest.database.size + files.size + inBucket.size, total)
        }
        guard files == manifest.files, inBucket == manifest.inBucket else {
            throw CommandFailure(
                "the backup in \(source.path) is damaged: its manifest lists \(manifest.files.count) files, but it has \(files.count)"
            )
        }
        // The log continues at positions that clients may be beyond.
        try await store.beginEpoch()
        if let keys = try source.downloadKeys() {
            try draft.copy(keys, to: DataFolder.downloadKeys)
        }
        try draft.finish()
    }

    private func restoreDatabase(to target: DataFolder) throws {
        try draft.removeDatabase()
        try draft.copy(BlobFile(at: source.database), to: DataFolder.database)
        let copy = try BlobFile(at: target.database)
        guard copy.size == manifest.database.size,
            String(hexadecimal: try copy.digest()) == manifest.database.sha256
        else {
            throw CommandFailure(
                "the backup in \(source.path) is damaged: the digest of its database differs")
        }
    }

    private func requireInBucket(_ file: StoredFile) async throws {
        guard let saved = manifest.bucket else {
            throw CommandFailure(
                "the backup in \(source.path) is damaged: \(file.title) is missing")
        }
        guard let bucket else {
            throw CommandFailure(
                "\(file.title) is in the bucket \(saved), which s3.bucket must name")
        }
        guard try await bucket.size(of: file.nameInBucket) == file.size else {
            throw CommandFailure("\(file.title) is missing in the bucket of s3.bucket")
        }
    }
}
