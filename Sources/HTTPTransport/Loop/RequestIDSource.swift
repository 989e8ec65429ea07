import HTTP

/// Makes request ids: time first, then 80 bits that start at random and count up (a monotonic ULID).
struct RequestIDSource {
    private var high: UInt64
    private var low: UInt64

    init() {
        var generator = SystemRandomNumberGenerator()
        high = generator.next() & 0xFFFF
        low = generator.next()
    }

    /// The next id; never one that this source gave before.
    ///
    /// - Parameter time: Milliseconds since 1970.
    mutating func next(at time: UInt64) -> RequestID {
        let (sum, carried) = low.addingReportingOverflow(1)
        low = sum
        if carried { high = (high + 1) & 0xFFFF }
        return RequestID(high: time << 16 | high, low: low)
    }
}
