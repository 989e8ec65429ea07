internal import Bytes
import Glibc
import SystemSupport

/// A small file whose payload is replaced as a whole or not at all.
///
/// The file has two slots of 16 KiB, written alternately. The slot with the higher sequence number and a
/// correct checksum is the valid one. A crash during a write leaves the other slot intact.
///
/// A write therefore costs one overwrite and one `fdatasync`. Writing a new file and renaming it would need
/// a sync of the folder too: two commits of the file system's journal, and twice the time.
public final class RecordFile: Sendable {
    /// The maximum size of the payload, in bytes.
    public static let capacity = slotSize - RecordSlot.headerSize
    private static let slotSize = 16 << 10

    private let descriptor: FileDescriptor
    private let state: Locked<State>

    private struct State {
        var sequence: UInt64
        var payload: [UInt8]
    }

    /// Opens an existing record.
    fileprivate init(_ descriptor: FileDescriptor) throws(DiskError) {
        self.descriptor = descriptor
        let bytes = try descriptor.read(2 * RecordFile.slotSize, at: 0)
        let slots = [0, RecordFile.slotSize].compactMap { start in
            start < bytes.count ? RecordSlot(bytes[start...].prefix(RecordFile.slotSize)) : nil
        }
        guard let newest = slots.max(by: { $0.sequence < $1.sequence }) else {
            throw DiskError(kind: .damaged, operation: "reading a record")
        }
        state = Locked(State(sequence: newest.sequence, payload: newest.payload))
    }

    /// Writes a new record.
    fileprivate init(_ descriptor: FileDescriptor, first payload: [UInt8]) throws(DiskError) {
        self.descriptor = descriptor
        state = Locked(State(sequence: 0, payload: payload))
        // Allocates the first block of the other slot, so that the next write succeeds on a full disk.
        try descriptor.write([UInt8](repeating: 0, count: 4096).span, at: 0)
        try write(payload)
    }

    /// The current payload.
    public var payload: [UInt8] { state.withLock { $0.payload } }

    /// Replaces the payload durably. Blocks on the disk; one caller at a time.
    ///
    /// After a failure the former payload stays valid, and the next call writes the same slot.
    public func write(_ payload: [UInt8]) throws(DiskError) {
        guard payload.count <= RecordFile.capacity else {
            throw DiskError(kind: .damaged, operation: "writing a record that is too large")
        }
        let (sequence, overflow) = state.withLock { $0.sequence }.addingReportingOverflow(1)
        // The higher number is the valid one, so the highest possible number cannot be replaced.
        if overflow { throw DiskError(kind: .damaged, operation: "numbering a record") }
        let slot = RecordSlot(sequence: sequence, payload: payload).bytes
        let position = Int64(sequence % 2) * Int64(RecordFile.slotSize)
        do throws(DiskError) {
            try descriptor.write(slot.span, at: position)
            try descriptor.syncData()
        } catch {
            // The page cache may still hold the slot although the disk has rejected it: invalidate it, so
            // that opening the record again does not find it.
            try? descriptor.write(
                [UInt8](repeating: 0, count: RecordSlot.headerSize).span, at: position)
            throw error
        }
        state.withLock { $0 = State(sequence: sequence, payload: payload) }
    }
}

/// A folder of record files. Every method blocks on the disk.
public struct RecordFolder: Sendable {
    private let folder: Folder

    /// Opens the folder, and creates it if it is missing.
    public init(at path: String) throws(DiskError) { folder = try Folder(making: path) }

    /// Creates a record; the payload and the file name are durable when this returns.
    ///
    /// - Throws: ``DiskError/Kind/exists`` when a record has this name.
    public func create(_ name: BlobName, _ payload: [UInt8]) throws(DiskError) -> RecordFile {
        let path = folder.path(of: name.text)
        let file: RecordFile
        do throws(DiskError) {
            let descriptor = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
            file = try RecordFile(descriptor, first: payload)
            try folder.sync()
        } catch {
            // An incomplete record is of no use; recovery removes it if this fails.
            if error.kind != .exists { try? folder.remove(name.text) }
            throw error
        }
        return file
    }

    /// Opens a record.
    ///
    /// - Throws: ``DiskError/Kind/missing``, or ``DiskError/Kind/damaged`` when neither slot is valid.
    public func open(_ name: BlobName) throws(DiskError) -> RecordFile {
        let path = folder.path(of: name.text)
        let descriptor: FileDescriptor
        do throws(DiskError) {
            descriptor = try FileDescriptor(opening: path, O_RDWR)
        } catch {
            // On a read-only file system the record can be read; a write fails later.
            guard error.kind == .readOnly else { throw error }
            descriptor = try FileDescriptor(opening: path, O_RDONLY)
        }
        return try RecordFile(descriptor)
    }

    /// Deletes a record; does nothing when there is none.
    public func delete(_ name: BlobName) throws(DiskError) { try folder.remove(name.text) }

    /// All files in the folder, in no particular order.
    public func entries() throws(DiskError) -> [FolderEntry] { try folder.entries() }
}

/// One of the two slots of a record file.
///
/// `"PRC1"`, sequence number (8 bytes), length (4), CRC-32C of everything else (4), payload; numbers are
/// little-endian.
private struct RecordSlot {
    static let headerSize = 20
    private static let magic = Array("PRC1".utf8)

    let sequence: UInt64
    let payload: [UInt8]

    init(sequence: UInt64, payload: [UInt8]) {
        self.sequence = sequence
        self.payload = payload
    }

    /// Parses a slot; `nil` when it was never written, or only partly.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= RecordSlot.headerSize, bytes.starts(with: RecordSlot.magic) else {
            return nil
        }
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let length = Int(number(12, 4))
        guard length <= bytes.count - RecordSlot.headerSize else { return nil }
        sequence = number(4, 8)
        payload = Array(bytes.dropFirst(RecordSlot.headerSize).prefix(length))
        guard checksum == UInt32(number(16, 4)) else { return nil }
    }

    var bytes: [UInt8] { prefix + checksum.littleEndianBytes + payload }

    /// The bytes before the checksum.
    private var prefix: [UInt8] {
        RecordSlot.magic + sequence.littleEndianBytes
            + UInt32(payload.count).littleEndianBytes
    }

    private var checksum: UInt32 {
        var crc = CRC32C()
        let covered = prefix + payload
        crc.update(covered.span)
        return crc.value
    }
}
