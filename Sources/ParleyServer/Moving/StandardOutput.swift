import Glibc

/// Writes to the standard output in large pieces; one thread at a time.
struct StandardOutput {
    private var waiting: [UInt8] = []

    private static let piece = 256 << 10

    init() { waiting.reserveCapacity(Self.piece * 2) }

    /// Adds octets.
    ///
    /// - Throws: ``StartFailure`` when nobody reads, or the disk is full.
    mutating func write(_ octets: [UInt8]) throws(StartFailure) {
        waiting += octets
        if waiting.count >= Self.piece { try flush() }
    }

    /// Writes what still waits.
    mutating func flush() throws(StartFailure) {
        var rest = waiting[...]
        while !rest.isEmpty {
            // Holds because the slice lives through the call.
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(1, bytes.baseAddress, bytes.count)
            }
            guard count >= 0 || errno == EINTR else {
                throw StartFailure(
                    "the standard output cannot be written (\(unsafe String(cString: strerror(errno)))): nothing reads it, or its disk is full"
                )
            }
            rest = rest.dropFirst(max(0, count))
        }
        waiting.removeAll(keepingCapacity: true)
    }
}
