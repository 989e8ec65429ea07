import Glibc
import Locking

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
    public static let capacity = slotSize - Slot.headerSize
    static let slotSize = 16 << 10

    private let descriptor: Descriptor
    private let state: Locked<State>

    private struct State {
        var sequence: UInt64
        var payload: [UInt8]
    }

    init(_ descriptor: Descriptor) throws(DiskError) {
        self.descriptor = descriptor
        let bytes = try descriptor.read(2 * RecordFile.slotSize, at: 0)
        let slots = [0, RecordFile.slotSize].compactMap { start in
            start < bytes.count ? Slot(bytes[start...].prefix(RecordFile.slotSize)) : nil
        }
        guard let newest = slots.max(by: { $0.sequence < $1.sequence }) else {
            throw DiskError(kind: .damaged, operation: "read record")
        }
        state = Locked(State(sequence: newest.sequence, payload: newest.payload))
    }

    init(_ descriptor: Descriptor, first payload: [UInt8]) throws(DiskError) {
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
        let slot = Slot(sequence: sequence, payload: payload).bytes
        let place = Int64(sequence % 2) * Int64(RecordFile.slotSize)
        do throws(DiskError) {
            try descriptor.write(slot.span, at: place)
            try descriptor.syncData()
        } catch {
            // The page cache may still hold what the disk refused; whoever opens the record anew must
            // not believe it.
            try? descriptor.write([UInt8](repeating: 0, count: Slot.headerSize).span, at: place)
            throw error
        }
        state.withLock { $0 = State(sequence: sequence, payload: payload) }
    }
}
