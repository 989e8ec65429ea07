internal import Blobs
internal import Checksums
internal import Digests

/// A file that grows at its end, written in large pieces, with its digests.
struct ExportFile {
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
