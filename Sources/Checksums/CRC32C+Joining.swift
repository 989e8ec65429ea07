extension CRC32C {
    /// The checksum of two runs of bytes in a row, from that of each; no byte is read.
    ///
    /// The first one's remainder is multiplied by x to the number of bits that follow it; squaring
    /// takes 63 steps at most, whatever the length.
    ///
    /// - Parameter count: Bytes of the second run, 0 or more.
    public static func joining(_ first: UInt32, with second: UInt32, of count: Int64) -> UInt32 {
        product(shift(past: count), first) ^ second
    }

    /// The power of x that a remainder is multiplied by when so many bytes follow.
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

    /// x⁰: in a reflected polynomial the top bit, and each place below it one power more.
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
