internal import Checksums

/// One of the two copies in a record file.
///
/// `"PRC1"`, sequence (8 bytes), length (4), CRC-32C of all else (4), payload; little-endian.
struct Slot {
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
        guard bytes.count >= Slot.headerSize, bytes.starts(with: Slot.magic) else { return nil }
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let length = Int(number(12, 4))
        guard length <= bytes.count - Slot.headerSize else { return nil }
        sequence = number(4, 8)
        payload = Array(bytes.dropFirst(Slot.headerSize).prefix(length))
        guard checksum == UInt32(number(16, 4)) else { return nil }
    }

    var bytes: [UInt8] { head + Slot.little(checksum) + payload }

    private var head: [UInt8] {
        Slot.magic + Slot.little(sequence) + Slot.little(UInt32(payload.count))
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
