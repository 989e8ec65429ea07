import Blobs
import JSON
import Messaging
import MessagingWire

/// What stands in a backup beside what was saved, and tells whether all of it is there.
struct BackupManifest: Equatable {
    /// The release that wrote it.
    var release = Release.version
    let madeAt: Timestamp
    let database: SavedFile
    /// Contents and archives whose bytes were saved; their digests stand in the database.
    let files: Amount
    /// The bucket where others lie and stay; `nil` where there is none.
    let bucket: String?
    let inBucket: Amount

    /// A file whose digest stands nowhere else.
    struct SavedFile: Equatable {
        let size: Int64
        /// Hexadecimal.
        let sha256: String
    }

    /// How many files, and their bytes.
    struct Amount: Equatable {
        var count: Int64 = 0
        var size: Int64 = 0
    }

    /// Raised when a backup changes so that an older release would read it wrongly.
    private static let format: Int64 = 1

    private static func file(in folder: String) throws(DiskError) -> SecretFile {
        guard let name = BlobName("backup") else { preconditionFailure("letters are a name") }
        return try SecretFile(folder: folder, name: name)
    }

    /// Writes it beside what was saved, durably.
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

    /// Reads the note of a backup.
    ///
    /// - Throws: ``CommandFailure`` when the folder holds none, or one of another format.
    static func read(in folder: String) throws -> BackupManifest {
        guard !DraftFolder.isUnfinished(folder) else {
            throw CommandFailure("the backup in \(folder) was not finished")
        }
        // Not by making the folder, which somebody may have misspelt.
        guard (try? BlobFile(at: "\(folder)/backup")) != nil,
            let bytes = try file(in: folder).read()
        else { throw CommandFailure("there is no backup in \(folder)") }
        let note = try? JSONDocument(bytes).root
        if let format = note?["format"]?.integer, format != BackupManifest.format {
            throw CommandFailure(
                "the backup in \(folder) has format \(format), this release reads \(BackupManifest.format)"
            )
        }
        guard let note, let read = BackupManifest(note) else {
            throw CommandFailure("the backup in \(folder) is damaged: its file 'backup' is no note")
        }
        return read
    }

    private init?(_ note: JSONValue) {
        guard let release = note["release"]?.string,
            let madeAt = note["made_at"]?.string.flatMap(TimestampJSON.read),
            let size = note["database"]?["size"]?.integer,
            let digest = note["database"]?["sha256"]?.string,
            let files = Amount(note["files"]), let inBucket = Amount(note["in_bucket"])
        else { return nil }
        self.init(
            release: release, madeAt: madeAt, database: SavedFile(size: size, sha256: digest),
            files: files, bucket: note["bucket"]?.string, inBucket: inBucket)
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
    /// Counts one more.
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
