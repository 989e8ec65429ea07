import Blobs
import JSON
import Messaging
import MessagingWire

/// The file in a backup that lists its contents, to verify that the backup is complete.
struct BackupManifest: Equatable {
    /// The release that wrote the backup.
    var release = Release.version
    let madeAt: Timestamp
    let database: SavedFile
    /// Contents and archives in the backup; their digests are in the database.
    let files: Amount
    /// The bucket with the other contents, which are not copied; `nil` without one.
    let bucket: String?
    let inBucket: Amount

    /// A file with its digest.
    struct SavedFile: Equatable {
        let size: Int64
        /// In hexadecimal.
        let sha256: String
    }

    /// A number of files and their total size in bytes.
    struct Amount: Equatable {
        var count: Int64 = 0
        var size: Int64 = 0
    }

    /// The format of the manifest, raised when older releases could not read a backup correctly.
    private static let format: Int64 = 1

    private static func file(in folder: String) throws(DiskError) -> SecretFile {
        guard let name = BlobName("backup") else {
            preconditionFailure("letters form a valid name")
        }
        return try SecretFile(folder: folder, name: name)
    }

    /// Writes the manifest into the backup, durably.
    func write(to folder: String) throws(DiskError) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("format", BackupManifest.format)
            writer.member("release", release)
            writer.member("made_at", TimestampJSON.text(madeAt))
            writer.key("database")
            writer.object { writer in
                writer.member("size", database.size)
                writer.member("sha256", database.sha256)
            }
            writer.key("files")
            files.write(into: &writer)
            writer.member("bucket", bucket)
            writer.key("in_bucket")
            inBucket.write(into: &writer)
        }
        try BackupManifest.file(in: folder).write(writer.finish() + Array("\n".utf8))
    }

    /// Reads the manifest of a backup.
    ///
    /// - Throws: ``CommandFailure`` if the folder holds none, or one of another format.
    static func read(in folder: String) throws -> BackupManifest {
        guard !DraftFolder.isUnfinished(folder) else {
            throw CommandFailure("the backup in \(folder) was not finished")
        }
        // Does not use `file(in:)` first, which would create a misspelt folder.
        guard (try? BlobFile(at: "\(folder)/backup")) != nil,
            let bytes = try file(in: folder).read()
        else { throw CommandFailure("there is no backup in \(folder)") }
        let manifest = try? JSONDocument(bytes).root
        if let format = manifest?["format"]?.integer, format != BackupManifest.format {
            throw CommandFailure(
                "the backup in \(folder) has format \(format), this release reads \(BackupManifest.format)"
            )
        }
        guard let manifest, let read = BackupManifest(manifest) else {
            throw CommandFailure(
                "the backup in \(folder) is damaged: its file 'backup' cannot be read")
        }
        return read
    }

    private init?(_ manifest: JSONValue) {
        guard let release = manifest["release"]?.string,
            let madeAt = manifest["made_at"]?.string.flatMap(TimestampJSON.read),
            let size = manifest["database"]?["size"]?.integer,
            let digest = manifest["database"]?["sha256"]?.string,
            let files = Amount(manifest["files"]), let inBucket = Amount(manifest["in_bucket"])
        else { return nil }
        self.init(
            release: release, madeAt: madeAt, database: SavedFile(size: size, sha256: digest),
            files: files, bucket: manifest["bucket"]?.string, inBucket: inBucket)
    }

    init(
        release: String = Release.version, madeAt: Timestamp, database: SavedFile, files: Amount,
        bucket: String?, inBucket: Amount
    ) {
        self.release = release
        self.madeAt = madeAt
        self.database = database
        self.files = files
        self.bucket = bucket
        self.inBucket = inBucket
    }
}

extension BackupManifest.Amount {
    /// Counts one more file.
    mutating func add(_ size: Int64) {
        count += 1
        self.size += size
    }

    fileprivate func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("count", count)
            writer.member("size", size)
        }
    }

    fileprivate init?(_ value: JSONValue?) {
        guard let count = value?["count"]?.integer, let size = value?["size"]?.integer else {
            return nil
        }
        self.init(count: count, size: size)
    }
}
