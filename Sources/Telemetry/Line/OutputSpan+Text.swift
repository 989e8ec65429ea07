extension OutputSpan<UInt8> {
    /// Appends text that lives as long as the program.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends octets.
    @inline(__always)
    mutating func append(_ octets: Span<UInt8>) {
        unsafe octets.withUnsafeBufferPointer { octets in unsafe append(octets) }
    }

    /// The only place that copies without looking at each octet: what does not fit traps.
    @inline(__always)
    private mutating func append(_ octets: UnsafeBufferPointer<UInt8>) {
        precondition(octets.count <= freeCapacity)
        guard let source = octets.baseAddress else { return }
        unsafe withUnsafeMutableBufferPointer { storage, count in
            guard let start = storage.baseAddress else { return }
            unsafe (start + count).initialize(from: source, count: octets.count)
            count += octets.count
        }
    }

    /// Appends a number below 100 in two digits.
    @inline(__always)
    mutating func append(twoDigits number: Int64) {
        append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension [UInt8] {
    /// Appends pieces of at most so many octets together, with one look at the room for them.
    @inline(__always)
    mutating func append(atMost size: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        if capacity - count < size { reserveCapacity(Swift.max(count + size, 2 * capacity)) }
        append(addingCapacity: size, initializingWith: write)
    }
}
