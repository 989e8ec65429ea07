// Inlined, because without specialisation each byte would go through run-time generics.
extension FixedWidthInteger {
    /// The bytes of the number, the most significant first.
    @inlinable
    package var bigEndianBytes: [UInt8] {
        (0..<bitWidth / 8).map { index in
            UInt8(truncatingIfNeeded: self >> (bitWidth - 8 - 8 * index))
        }
    }

    /// The bytes of the number, the least significant first.
    @inlinable
    package var littleEndianBytes: [UInt8] {
        (0..<bitWidth / 8).map { index in UInt8(truncatingIfNeeded: self >> (8 * index)) }
    }
}
