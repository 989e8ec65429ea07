internal import Archives
internal import Blobs
internal import Bytes
internal import Messaging
internal import MessagingStore
internal import MessagingWire
internal import SystemSupport
internal import Uploads

/// Creates the archive of one export, or deletes it.
///
/// It takes two steps, because a tar header contains the size of the file after it: first the JSON is
/// written, batch by batch, to a file beside the archive, and then copied, piece by piece, into the
/// archive. Memory holds one batch, whatever the export's size.
actor ExportJob {
    private let task: ExportTask
    private let store: MessagingStore
    private let blobs: BlobFolder
    private let contents: ContentRepository
    private let presentation: Presentation
    private let name: BlobName
    /// The JSON before it is encrypted.
    private let plainName: BlobName
    private let executor = WorkExecutor("parley.export")

    /// Its own thread: compression and encryption keep a core busy, and file access blocks.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The actor holds the executor.
        unsafe executor.asUnownedSerialExecutor()
    }

    private static let piece = 256 << 10

    init(
        _ task: ExportTask, store: MessagingStore, blobs: BlobFolder, contents: ContentRepository,
        _ presentation: Presentation
    ) throws {
        let id = task.export.id.uuid
        guard let name = BlobName(id), let plainName = BlobName("\(id)-json") else {
            throw DiskError(kind: .other, operation: "naming an archive")
        }
        self.task = task
        self.store = store
        self.blobs = blobs
        self.contents = contents
        self.presentation = presentation
        self.name = name
        self.plainName = plainName
    }

    /// Creates the archive; it is durable when this returns.
    func write(at moment: Timestamp) async throws -> Export.Archive {
        do {
            let plain = try await writePlain(until: moment)
            let archive = try await encrypt(plain, at: moment)
            try blobs.discard(plainName)
            return archive
        } catch {
            // The next attempt starts with an empty file in any case.
            try? clear()
            throw error
        }
    }

    /// Writes the JSON; starts over if conversations were merged meanwhile (X1.3).
    private func writePlain(until moment: Timestamp) async throws -> ExportFileWriter {
        while true {
            let end = try await store.logExtent(in: task.application).end
            try clear()
            var plain = ExportFileWriter(try blobs.stage(plainName))
            try await ExportDocument(
                task, store: store, presentation, until: moment
            ).write(to: &plain)
            guard case .historical = task.export.scope,
                try await store.hasMerged(since: end, in: task.application)
            else { return plain }
        }
    }

    /// Deletes the archive; repeating it changes nothing.
    func erase() async throws {
        try clear()
        if let archive = task.export.archive { try await erase(archive) }
    }

    /// Deletes one published archive; repeating it changes nothing.
    func erase(_ archive: Export.Archive) async throws {
        try await contents.erase(try self.archive(sealedWith: archive.initialVector))
    }

    /// Each attempt has a new initialization vector.
    private func archive(sealedWith vector: [UInt8]) throws -> ArchiveFile {
        guard let archive = ArchiveFile(id: task.export.id.uuid, attempt: vector) else {
            throw DiskError(kind: .other, operation: "naming an archive")
        }
        return archive
    }

    /// Deletes files that a crash may have left.
    private func clear() throws {
        try blobs.discard(plainName)
        try blobs.discard(name)
    }

    private func encrypt(_ plain: ExportFileWriter, at moment: Timestamp) async throws
        -> Export.Archive
    {
        let (key, vector) = (
            StoreEnvironment.live.randomBytes(32), StoreEnvironment.live.randomBytes(16)
        )
        guard let encryptedKey = PublicKey(der: task.export.publicKey)?.encrypt(key) else {
            throw ExportError.unusableKey
        }
        let encrypted = EncryptedArchive(
            name: "export.json", size: plain.size, modifiedAt: moment.milliseconds / 1000,
            key: key, initialVector: vector)
        var file = ExportFileWriter(try blobs.stage(name))
        try file.append(encrypted.begin())
        var offset: Int64 = 0
        while offset < plain.size {
            try Task.checkCancellation()
            let piece = try plain.read(Self.piece, at: offset)
            guard !piece.isEmpty else {
                throw DiskError(kind: .damaged, operation: "reading an archive")
            }
            offset += Int64(piece.count)
            try file.append(encrypted.append(piece))
            try file.commitAsItGrows()
        }
        try file.append(encrypted.finish())
        try file.flush()
        try file.commit()
        try await contents.publish(
            try archive(sealedWith: vector), size: file.size, sha256: file.sha256)
        return Export.Archive(
            size: file.size, sha256: file.sha256, crc32c: file.crc32c,
            encryptedKey: encryptedKey, initialVector: vector)
    }
}

/// An error that is neither the disk's nor the database's.
enum ExportError: Error {
    /// The stored key cannot encrypt, although it was tested when it was set.
    case unusableKey
}

/// A buffered file writer that computes the digests of what it writes.
struct ExportFileWriter {
    private let file: StagedFile
    private var buffer: [UInt8] = []
    private var written: Int64 = 0
    private var hash = SHA256()
    private var checksum = CRC32C()

    private static let piece = 256 << 10
    /// Bytes after which written data is synced: one sync must end within the shutdown time.
    private static let step: Int64 = 64 << 20
    private var durable: Int64 = 0

    /// Writes to an empty file.
    init(_ file: StagedFile) { self.file = file }

    /// The bytes written so far, buffered ones included.
    var size: Int64 { written + Int64(buffer.count) }
    /// SHA-256 of the flushed bytes.
    var sha256: [UInt8] { hash.digest }
    /// CRC-32C of the flushed bytes.
    var crc32c: UInt32 { checksum.value }

    mutating func append(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count >= Self.piece { try flush() }
    }

    /// Writes the buffered bytes.
    mutating func flush() throws {
        let bytes = buffer
        buffer = []
        try file.write(bytes.span, at: written)
        hash.update(bytes.span)
        checksum.update(bytes.span)
        written += Int64(bytes.count)
    }

    /// Makes the flushed bytes durable.
    mutating func commit() throws {
        try file.commit()
        durable = written
    }

    /// Makes the flushed bytes durable once there are enough, so that the last sync does not have
    /// to write the whole file.
    mutating func commitAsItGrows() throws {
        if written - durable >= Self.step { try commit() }
    }

    /// Reads flushed bytes.
    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        try file.read(count, at: offset)
    }
}
