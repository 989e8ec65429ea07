import Blobs
import Digests
import MessagingStore
import SQL
import Uploads

/// Brings back what a backup holds into an empty folder, and looks at every byte of it.
struct Restoring {
    let source: DataFolder
    let note: BackupNote
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
        let copier = FileCopier(source: try source.blobs(), target: try target.blobs())
        let database = try Database.open(
            .file(target.database), migrations: MessagingStore.migrations)
        defer { database.close() }
        var (files, inBucket) = (BackupNote.Amount(), BackupNote.Amount())
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
            throw StartFailure(
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
            throw StartFailure(
                "the backup in \(source.path) is damaged: the digest of its database is another")
        }
    }

    private func requireInBucket(_ file: KeptFile) async throws {
        guard let saved = note.bucket else {
            throw StartFailure("the backup in \(source.path) is damaged: \(file.title) is missing")
        }
        guard let bucket else {
            throw StartFailure(
                "\(file.title) lies in the bucket \(saved), which s3.bucket must name")
        }
        guard try await bucket.size(of: file.nameInBucket) == file.size else {
            throw StartFailure("\(file.title) is missing in the bucket of s3.bucket")
        }
    }
}
