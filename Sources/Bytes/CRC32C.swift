import CIntrinsics

/// A running CRC-32C checksum (Castagnoli): reflected polynomial 0x82F63B78, initial value and
/// final XOR all ones.
///
/// Uses the processor's CRC32C instruction on three lanes in parallel where it exists, which takes
/// a tenth of the time; otherwise sixteen tables, so that one step takes sixteen bytes
/// ("slicing-by-16", Intel 2006).
public struct CRC32C: Sendable, Equatable {
    private var register: UInt32

    /// A checksum of no bytes.
    public init() { register = .max }

    /// Resumes a checksum whose ``value`` was stored.
    public init(resuming value: UInt32) { register = ~value }

    /// The checksum of all bytes so far.
    public var value: UInt32 { ~register }

    /// Adds bytes to the checksum.
    public mutating func update(_ bytes: Span<UInt8>) {
        update(bytes, byInstruction: CRC32C.hasInstruction)
    }

    static let polynomial: UInt32 = 0x82F6_3B78

    private static let hasInstruction = intrinsics_has_crc32c() != 0

    /// Adds bytes with or without the instruction, so that tests can compare both.
    mutating func update(_ bytes: Span<UInt8>, byInstruction: Bool) {
        let start = register
        if byInstruction {
            // The pointer is used only inside this call.
            register = unsafe bytes.withUnsafeBytes { bytes in
                unsafe CRC32C.advance(start, bytes)
            }
            return
        }
        // Both pointers are used only inside this call.
        unsafe register = CRC32C.tables.span.withUnsafeBufferPointer { tables in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe CRC32C.advance(start, bytes, tables)
            }
        }
    }

    /// Bytes of one of three lanes; combining the lanes costs as much as checksumming 200 bytes.
    private static let lane = 4096
    private static let shift = shift(past: Int64(lane))

    // Bounds: a round reads three lanes only while that many bytes are left; the last call reads
    // the rest.
    private static func advance(_ start: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard let source = bytes.baseAddress else { return start }
        var crc = start
        var position = 0
        while bytes.count - position >= 3 * lane {
            let lanes = unsafe intrinsics_crc32c_lanes(crc, source + position, lane)
            crc = product(shift, product(shift, lanes.first) ^ lanes.second) ^ lanes.third
            position += 3 * lane
        }
        return unsafe intrinsics_crc32c(crc, source + position, bytes.count - position)
    }

    // Bounds: a table index is one byte plus 256 times a table number below 16, and `position`
    // stays below the byte count; the checks are left out because they halve the speed.
    private static func advance(
        _ start: UInt32, _ bytes: UnsafeRawBufferPointer, _ tables: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        guard let table = tables.baseAddress, let source = bytes.baseAddress else { return start }
        var crc = start
        var position = 0
        while bytes.count - position >= 16 {
            let (a, b, c, d) = unsafe (
                crc ^ word(source, position), word(source, position + 4),
                word(source, position + 8), word(source, position + 12)
            )
            crc = unsafe four(table + 12 * 256, a) ^ four(table + 8 * 256, b)
            unsafe crc ^= four(table + 4 * 256, c) ^ four(table, d)
            position += 16
        }
        while position < bytes.count {
            let byte = unsafe source.load(fromByteOffset: position, as: UInt8.self)
            crc = unsafe crc >> 8 ^ table[Int((crc ^ UInt32(byte)) & 0xFF)]
            position += 1
        }
        return crc
    }

    // The caller has checked that the bytes at `position` exist.
    @inline(__always)
    private static func word(_ source: UnsafeRawPointer, _ position: Int) -> UInt32 {
        unsafe UInt32(
            littleEndian: source.loadUnaligned(fromByteOffset: position, as: UInt32.self))
    }

    // Bounds: each index is one byte plus 256 times a table number below 4.
    /// Looks four bytes up in four adjacent tables, the first byte in the last table.
    @inline(__always)
    private static func four(_ table: UnsafePointer<UInt32>, _ word: UInt32) -> UInt32 {
        unsafe table[768 + Int(word & 0xFF)] ^ table[512 + Int(word >> 8 & 0xFF)]
            ^ table[256 + Int(word >> 16 & 0xFF)] ^ table[Int(word >> 24)]
    }

    /// `tables[k * 256 + b]`: the register after byte `b` and then `k` zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 16 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? polynomial : 0) }
            tables[byte] = crc
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()
}

extension CRC32C {
    /// The checksum of two consecutive runs of bytes, computed from the checksum of each without
    /// reading bytes.
    ///
    /// The remainder of the first is multiplied by x to the number of bits that follow it; repeated
    /// squaring takes at most 63 steps, whatever the length.
    ///
    /// - Parameter count: Bytes of the second run, 0 or more.
    public static func combine(_ first: UInt32, with second: UInt32, of count: Int64) -> UInt32 {
        product(shift(past: count), first) ^ second
    }

    /// The power of x by which a remainder is multiplied when `count` bytes follow.
    static func shift(past count: Int64) -> UInt32 {
        var shift = one
        var power = one >> 8
        var rest = count
        while rest > 0 {
            if rest & 1 == 1 { shift = product(shift, power) }
            power = product(power, power)
            rest >>= 1
        }
        return shift
    }

    /// x⁰: in a reflected polynomial the top bit; each lower bit is one power more.
    private static let one: UInt32 = 1 << 31

    static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var (sum, addend) = (UInt32(0), right)
        for power in 0..<32 {
            if left << power & one != 0 { sum ^= addend }
            addend = addend >> 1 ^ (addend & 1 == 1 ? polynomial : 0)
        }
        return sum
    }
}
