extension [UInt8] {
    /// Appends at most `size` bytes in several writes, after one check of the capacity.
    ///
    /// Capacity grows by doubling, so many small appends cost no more than one large one.
    @inlinable @inline(__always)
    public mutating func append(atMost size: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        if capacity - count < size { reserveCapacity(Swift.max(count + size, 2 * capacity)) }
        append(addingCapacity: size, initializingWith: write)
    }
}

// C strings and arrays are copied through pointers that live through the call; the capacity is checked before.
//
// Everything is inlined, so that a copy of known length compiles to a few moves.
extension OutputSpan<UInt8> {
    /// Appends a literal; traps when it does not fit.
    @inlinable @inline(__always)
    public mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends bytes; traps when they do not fit.
    @inlinable @inline(__always)
    public mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in unsafe append(bytes) }
    }

    /// Copies without a check of each byte; the capacity is checked once, before.
    @inlinable @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        precondition(bytes.count <= freeCapacity)
        guard let source = bytes.baseAddress else { return }
        unsafe withUnsafeMutableBufferPointer { storage, count in
            guard let start = storage.baseAddress else { return }
            unsafe (start + count).initialize(from: source, count: bytes.count)
            count += bytes.count
        }
    }
}

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
            // Written from the last digit to the first.
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

    /// Appends a signed number in decimal, at most 20 bytes.
    @inlinable
    public mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Appends a number from 0 to 99 as two digits.
    @inlinable @inline(__always)
    public mutating func append(twoDigits number: Int64) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}
