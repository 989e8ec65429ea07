extension OutputSpan<UInt8> {
    /// Appends a number in decimal digits, at most 20, without making a string.
    @inlinable
    public mutating func append(decimal number: UInt64) {
        var digits = 1
        var rest = number / 10
        while rest > 0 {
            digits += 1
            rest /= 10
        }
        precondition(digits <= freeCapacity)
        unsafe withUnsafeMutableBufferPointer { storage, count in
            // From the last digit to the first, each at its place.
            var place = count + digits
            count = place
            var rest = number
            repeat {
                place -= 1
                unsafe storage[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
        }
    }

    /// Appends a number with its sign, at most 20 octets.
    @inlinable
    public mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Appends a number of 0 to 99 in two digits.
    @inlinable @inline(__always)
    public mutating func append(twoDigits number: Int64) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}
