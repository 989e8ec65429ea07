// All of it is inlined: a copy of known length is a few moves.
extension OutputSpan<UInt8> {
    /// Appends text that lives as long as the program; text that does not fit traps.
    @inlinable @inline(__always)
    public mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends octets; what does not fit traps.
    @inlinable @inline(__always)
    public mutating func append(_ octets: Span<UInt8>) {
        unsafe octets.withUnsafeBufferPointer { octets in unsafe append(octets) }
    }

    /// The only place that copies without looking at each octet.
    @inlinable @inline(__always)
    mutating func append(_ octets: UnsafeBufferPointer<UInt8>) {
        precondition(octets.count <= freeCapacity)
        guard let source = octets.baseAddress else { return }
        unsafe withUnsafeMutableBufferPointer { storage, count in
            guard let start = storage.baseAddress else { return }
            unsafe (start + count).initialize(from: source, count: octets.count)
            count += octets.count
        }
    }
}
