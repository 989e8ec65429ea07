extension [UInt8] {
    /// Appends pieces of at most so many octets together, with one look at the room for them.
    ///
    /// Room grows by doubling: many small pieces cost no more than one large.
    @inlinable @inline(__always)
    public mutating func append(atMost size: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        if capacity - count < size { reserveCapacity(Swift.max(count + size, 2 * capacity)) }
        append(addingCapacity: size, initializingWith: write)
    }
}
