internal import Bytes
import Glibc
import SystemSupport

/// A small file replaced as a whole or not at all.
///
/// Two slots of 16 KiB, written in turn: magic, sequence number, length, checksum, payload. The
/// slot with the higher number and a right checksum counts. A crash in the middle of a write leaves
/// the other slot as it was.
///
/// We do this, because a commit then costs one overwrite and one `fdatasync`, instead of write-new,
/// sync, rename and a sync of the folder: those are two journal commits and twice the waiting.
public final class RecordFile: Sendable {
    /// Largest payload, in bytes.
    public static let capacity = slotSize - RecordSlot.headerSize
    static let slotSize = 16 << 10

    private let descriptor: FileDescriptor
    private let state: Locked<State>

    private struct State {
        var sequence: UInt64
        var payload: [UInt8]
    }

    init(_ descriptor: FileDescriptor) throws(DiskError) {
        self.descriptor = descriptor
        let bytes = try descriptor.read(2 * RecordFile.slotSize, at: 0)
        let slots = [0, RecordFile.slotSize].compactMap { start in
            start < bytes.count ? RecordSlot(bytes[start...].prefix(RecordFile.slotSize)) : nil
        }
        guard let newest = slots.max(by: { $0.sequence < $1.sequence }) else {
            throw DiskError(kind: .damaged, operation: "read record")
        }
        state = Locked(State(sequence: newest.sequence, payload: newest.payload))
    }

    init(_ descriptor: FileDescriptor, first payload: [UInt8]) throws(DiskError) {
        self.descriptor = descriptor
        state = Locked(State(sequence: 0, payload: payload))
        // The other slot's first block too, so that a disk full later can still take a commit.
        try descriptor.write([UInt8](repeating: 0, count: 4096).span, at: 0)
        try write(payload)
    }

    /// The payload last written, or found when the file was opened.
    public var payload: [UInt8] { state.withLock { $0.payload } }

    /// Replaces the payload, durably. Waits for the disk; one caller at a time.
    ///
    /// After a failure the old payload still counts, and the same slot is written again.
    public func write(_ payload: [UInt8]) throws(DiskError) {
        guard payload.count <= RecordFile.capacity else {
            throw DiskError(kind: .damaged, operation: "record too large")
        }
        let (sequence, overflow) = state.withLock { $0.sequence }.addingReportingOverflow(1)
        // The slot with the higher number counts, so none can follow the highest one.
        if overflow { throw DiskError(kind: .damaged, operation: "number record") }
        let slot = RecordSlot(sequence: sequence, payload: payload).bytes
        let place = Int64(sequence % 2) * Int64(RecordFile.slotSize)
        do throws(DiskError) {
            try descriptor.write(slot.span, at: place)
            try descriptor.syncData()
        } catch {
            // The page cache may still hold what the disk refused; whoever opens the record anew must
            // not believe it.
            try? descriptor.write(
                [UInt8](repeating: 0, count: RecordSlot.headerSize).span, at: place)
            throw error
        }
        state.withLock { $0 = State(sequence: sequence, payload: payload) }
    }
}

/// A folder of record files. Every method waits for the disk.
public struct RecordFolder: Sendable {
    private let folder: Folder

    /// Takes the folder, making it where it is missing.
    public init(at path: String) throws(DiskError) { folder = try Folder(making: path) }

    /// Makes a record; both the file and its name are durable when this returns.
    ///
    /// - Throws: ``DiskError/Kind/exists`` when there is one of that name.
    public func create(_ name: BlobName, _ payload: [UInt8]) throws(DiskError) -> RecordFile {
        let path = folder.path(of: name.text)
        let file: RecordFile
        do throws(DiskError) {
            let descriptor = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
            file = try RecordFile(descriptor, first: payload)
            try folder.sync()
        } catch {
            // Half a record is nobody's; what cannot be removed now goes with the orphans.
            if error.kind != .exists { try? folder.remove(name.text) }
            throw error
        }
        return file
    }

    /// Opens a record.
    ///
    /// - Throws: ``DiskError/Kind/missing``, or ``DiskError/Kind/damaged`` when neither slot holds.
    public func open(_ name: BlobName) throws(DiskError) -> RecordFile {
        let path = folder.path(of: name.text)
        let descriptor: FileDescriptor
        do throws(DiskError) {
            descriptor = try FileDescriptor(opening: path, O_RDWR)
        } catch {
            // What it holds can be told all the same; writing it fails then.
            guard error.kind == .readOnly else { throw error }
            descriptor = try FileDescriptor(opening: path, O_RDONLY)
        }
        return try RecordFile(descriptor)
    }

    /// Deletes a record; repeating it is harmless.
    public func delete(_ name: BlobName) throws(DiskError) { try folder.remove(name.text) }

    /// Everything in the folder, in no order.
    public func entries() throws(DiskError) -> [FolderEntry] { try folder.entries() }
}

/// One of the two copies in a record file.
///
/// `"PRC1"`, sequence (8 bytes), length (4), CRC-32C of all else (4), payload; little-endian.
struct RecordSlot {
    static let headerSize = 20
    private static let magic = Array("PRC1".utf8)

    let sequence: UInt64
    let payload: [UInt8]

    init(sequence: UInt64, payload: [UInt8]) {
        self.sequence = sequence
        self.payload = payload
    }

    /// Reads a slot; `nil` when it was never written or not to its end.
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

    var bytes: [UInt8] { head + RecordSlot.little(checksum) + payload }

    private var head: [UInt8] {
        RecordSlot.magic + RecordSlot.little(sequence) + RecordSlot.little(UInt32(payload.count))
    }

    private var checksum: UInt32 {
        var crc = CRC32C()
        let covered = head + payload
        crc.update(covered.span)
        return crc.value
    }

    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
