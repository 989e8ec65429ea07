/// The received bytes of a connection that are not processed yet.
struct ReceivedBytes {
    private var bytes: [UInt8] = []
    /// The index of the first unprocessed byte; bytes before it are removed when more are appended.
    private var start = 0

    var isEmpty: Bool { bytes.isEmpty }

    var count: Int { bytes.count - start }

    mutating func append(_ added: Span<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        // Copied inside the call.
        unsafe added.withUnsafeBufferPointer { added in unsafe bytes.append(contentsOf: added) }
    }

    /// Processes the bytes, and removes as many as the closure returns.
    mutating func process(_ process: (Span<UInt8>) -> Int) {
        let used = start + process(bytes.span.extracting(start...))
        if used < bytes.count {
            start = used
        } else {
            self = ReceivedBytes()
        }
    }
}
