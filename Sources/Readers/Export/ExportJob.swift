internal import Archives
internal import Blobs
internal import Bytes
internal import Messaging
internal import MessagingStore
internal import MessagingWire
internal import SystemSupport
internal import Uploads

/// Makes the archive of one export, or removes it.
///
/// In two steps, because tar says the size of a file in front of it: first the JSON, a stretch of rows
/// at a time, into a file beside the archive; then, piece by piece, from there into the archive.
/// Memory holds one stretch, whatever there is to export.
actor ExportJob {
    private let task: ExportTask
    private let store: MessagingStore
    private let blobs: BlobFolder
    private let contents: ContentRepository
    private let presentation: Presentation
    private let name: BlobName
    /// The JSON before it is sealed.
    private let plainName: BlobName
    private let executor = WorkExecutor("parley.export")

    /// Reading rows waits elsewhere; what is left keeps a core busy or waits for the disk.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    private static let piece = 256 << 10

    init(
        _ task: ExportTask, store: MessagingStore, blobs: BlobFolder, contents: ContentRepository,
        _ presentation: Presentation
    ) throws {
        let id = task.export.id.uuid
        guard let name = BlobName(id), let plainName = BlobName("\(id)-json") else {
            throw DiskError(kind: .other, operation: "name an archive")
        }
        self.task = task
        self.store = store
        self.blobs = blobs
        self.contents = contents
        self.presentation = presentation
        self.name = name
        self.plainName = plainName
    }

    /// Makes the archive; when this returns, it is durable.
    func write(at moment: Timestamp) async throws -> Export.Archive {
        do {
            let plain = try await writePlain(until: moment)
            let archive = try await seal(plain, at: moment)
            try blobs.discard(plainName)
            return archive
        } catch {
            // Another try begins with an empty file all the same.
            try? clear()
            throw error
        }
    }

    /// Writes the JSON; again from the beginning when messages went elsewhere meanwhile (X1.3).
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

    /// Removes the archive; doing it again changes nothing.
    func erase() async throws {
        try clear()
        if let archive = task.export.archive { try await erase(archive) }
    }

    /// Removes what can be read of an archive; doing it again changes nothing.
    func erase(_ archive: Export.Archive) async throws {
        try await contents.erase(try self.archive(sealedWith: archive.initialVector))
    }

    /// The vector is new with each attempt.
    private func archive(sealedWith vector: [UInt8]) throws -> Archive {
        guard let archive = Archive(id: task.export.id.uuid, attempt: vector) else {
            throw DiskError(kind: .other, operation: "name an archive")
        }
        return archive
    }

    /// Removes what a crash may have left.
    private func clear() throws {
        try blobs.discard(plainName)
        try blobs.discard(name)
    }

    private func seal(_ plain: ExportFileWriter, at moment: Timestamp) async throws
        -> Export.Archive
    {
        let (key, vector) = (
            StoreEnvironment.live.randomBytes(32), StoreEnvironment.live.randomBytes(16)
        )
        guard let encryptedKey = PublicKey(der: task.export.publicKey)?.seal(key) else {
            throw ExportError.unusableKey
        }
        let sealed = EncryptedArchive(
            name: "export.json", size: plain.size, modifiedAt: moment.milliseconds / 1000,
            key: key, initialVector: vector)
        var file = ExportFileWriter(try blobs.stage(name))
        try file.append(sealed.begin())
        var place: Int64 = 0
        while place < plain.size {
            try Task.checkCancellation()
            let piece = try plain.read(Self.piece, at: place)
            guard !piece.isEmpty else { throw DiskError(kind: .damaged, operation: "read") }
            place += Int64(piece.count)
            try file.append(sealed.append(piece))
            try file.commitAsItGrows()
        }
        try file.append(sealed.finish())
        try file.flush()
        try file.commit()
        try await contents.publish(
            try archive(sealedWith: vector), size: file.size, sha256: file.sha256)
        return Export.Archive(
            size: file.size, sha256: file.sha256, crc32c: file.crc32c,
            encryptedKey: encryptedKey, initialVector: vector)
    }
}

/// Why an archive cannot be made, where it is not the disk's or the database's fault.
enum ExportError: Error {
    /// The stored key cannot seal anything, though it was tried when it was set.
    case unusableKey
}

/// A file that grows at its end, written in large pieces, with its digests.
struct ExportFileWriter {
    private let file: StagedFile
    private var buffer: [UInt8] = []
    private var written: Int64 = 0
    private var hash = SHA256()
    private var checksum = CRC32C()

    private static let piece = 256 << 10
    /// So much is made durable at once: a sync of it ends within the time a server takes to stop.
    private static let step: Int64 = 64 << 20
    private var durable: Int64 = 0

    /// Takes an empty file.
    init(_ file: StagedFile) { self.file = file }

    /// Bytes so far.
    var size: Int64 { written + Int64(buffer.count) }
    /// SHA-256 of what has been flushed.
    var sha256: [UInt8] { hash.digest }
    /// CRC-32C of what has been flushed.
    var crc32c: UInt32 { checksum.value }

    mutating func append(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count >= Self.piece { try flush() }
    }

    /// Writes what waits.
    mutating func flush() throws {
        let bytes = buffer
        buffer = []
        try file.write(bytes.span, at: written)
        hash.update(bytes.span)
        checksum.update(bytes.span)
        written += Int64(bytes.count)
    }

    /// Makes durable what has been flushed.
    mutating func commit() throws {
        try file.commit()
        durable = written
    }

    /// The same, once there is enough of it: the last sync must not have the whole file to write, also
    /// where the kernel takes no hint to begin earlier.
    mutating func commitAsItGrows() throws {
        if written - durable >= Self.step { try commit() }
    }

    /// Reads what has been flushed.
    func read(_ count: Int, at place: Int64) throws -> [UInt8] {
        try file.read(count, at: place)
    }
}
