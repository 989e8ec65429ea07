import Blobs
import Bytes
import Messaging
import MessagingStore
import SQL
import Uploads

/// Saves the database of a folder and everything it speaks of, while a server goes on with it.
///
/// First the database, as it is at one moment, then the files it names. One that a server has let go of
/// between the two is missing, so all is looked at again from a later moment; whatever is saved then was
/// there at the same time.
struct Backup {
    let source: DataFolder
    let draft: DraftFolder
    let bucket: ContentBucket?
    let bucketName: String?
    let now: Timestamp
    /// Told how many bytes are saved, and of how many.
    let progress: (Int64, Int64) -> Void

    /// A server lets go of contents a few times an hour: a fourth one to meet is no coincidence.
    private static let attempts = 4

    /// - Returns: What was saved.
    func run() async throws -> BackupManifest {
        for _ in 1..<Self.attempts {
            do { return try await attempt() } catch is MissingFile {}
        }
        do { return try await attempt() } catch let missing as MissingFile {
            throw CommandFailure("\(missing.file.title) is missing in \(source.path)")
        }
    }

    /// Somebody has let go of a file, or it is lost.
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
            try await store.forEachKeptFile { file in
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
        let note = BackupManifest(
            madeAt: now,
            database: .init(
                size: database.size, sha256: String(hexadecimal: try database.digest())),
            files: files, bucket: bucketName, inBucket: inBucket)
        try note.write(to: draft.path)
        try draft.finish()
        return note
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
        // What is measured afterwards has its log moved into it.
        defer { database.close() }
        return try await work(MessagingStore(database: database), size)
    }
}

/// Brings back what a backup holds into an empty folder, and looks at every byte of it.
struct BackupRestorer {
    let source: DataFolder
    let note: BackupManifest
    let draft: DraftFolder
    let bucket: ContentBucket?
    /// Told how many bytes are back, and of how many.
    let progress: (Int64, Int64) -> Void

    /// Brings it back; until this returns no server takes the folder.
    func run() async throws {
        let target = DataFolder(path: draft.path)
        let total = note.database.size + note.files.size + note.inBucket.size
        try restoreDatabase(to: target)
        progress(note.database.size, total)
        let copier = BlobCopier(source: try source.blobs(), target: try target.blobs())
        let database = try Database.open(
            .file(target.database), migrations: MessagingStore.migrations)
        defer { database.close() }
        var (files, inBucket) = (BackupManifest.Amount(), BackupManifest.Amount())
        try await MessagingStore(database: database).forEachKeptFile { file in
            if try copier.copy(file) != .missing {
                files.add(file.size)
            } else {
                try await requireInBucket(file)
                inBucket.add(file.size)
            }
            progress(note.database.size + files.size + inBucket.size, total)
        }
        guard files == note.files, inBucket == note.inBucket else {
            throw CommandFailure(
                "the backup in \(source.path) is damaged: it says that it has \(note.files.count) files, and has \(files.count)"
            )
        }
        if let keys = try source.downloadKeys() {
            try draft.copy(keys, to: DataFolder.downloadKeys)
        }
        try draft.finish()
    }

    private func restoreDatabase(to target: DataFolder) throws {
        try draft.removeDatabase()
        try draft.copy(BlobFile(at: source.database), to: DataFolder.database)
        let copy = try BlobFile(at: target.database)
        guard copy.size == note.database.size,
            String(hexadecimal: try copy.digest()) == note.database.sha256
        else {
            throw CommandFailure(
                "the backup in \(source.path) is damaged: the digest of its database is another")
        }
    }

    private func requireInBucket(_ file: StoredFile) async throws {
        guard let saved = note.bucket else {
            throw CommandFailure(
                "the backup in \(source.path) is damaged: \(file.title) is missing")
        }
        guard let bucket else {
            throw CommandFailure(
                "\(file.title) lies in the bucket \(saved), which s3.bucket must name")
        }
        guard try await bucket.size(of: file.nameInBucket) == file.size else {
            throw CommandFailure("\(file.title) is missing in the bucket of s3.bucket")
        }
    }
}
