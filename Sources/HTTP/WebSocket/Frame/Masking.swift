internal import Octets

extension [UInt8] {
    /// Appends octets of a masked payload, unmasked (RFC 6455 §5.3), eight at a time.
    ///
    /// - Parameters:
    ///   - key: The masking key, its first octet highest.
    ///   - place: How many octets of the payload came before these.
    mutating func append(
        unmasking input: Span<UInt8>, _ range: Range<Int>, key: UInt32, place: UInt64
    ) {
        let turns = UInt32(truncatingIfNeeded: (place & 3) * 8)
        let four = key << turns | key >> ((32 - turns) & 31)
        let eight = UInt64(four) << 32 | UInt64(four)
        append(atMost: range.count) { output in
            let input = input.extracting(range)
            // Both hold `range.count` octets: the input was cut to them, the room was asked for.
            unsafe input.withUnsafeBytes { source in
                unsafe output.withUnsafeMutableBufferPointer { room, filled in
                    let target = UnsafeMutableRawBufferPointer(room)
                    var index = 0
                    while index + 8 <= source.count {
                        let octets = unsafe source.loadUnaligned(
                            fromByteOffset: index, as: UInt64.self)
                        unsafe target.storeBytes(
                            of: octets ^ eight.bigEndian, toByteOffset: index, as: UInt64.self)
                        index += 8
                    }
                    while index < source.count {
                        let shift = UInt32(24 - 8 * (index & 3))
                        unsafe target[index] =
                            source[index] ^ UInt8(truncatingIfNeeded: four >> shift)
                        index += 1
                    }
                    filled += source.count
                }
            }
        }
    }
}
