/// Compresses whole messages, each by itself (RFC 7692 §7.2.1).
enum MessageDeflater {
    /// The payload of a compressed frame.
    ///
    /// - Parameter windowBits: 9…15.
    static func deflate(_ octets: [UInt8], windowBits: Int) -> [UInt8] {
        let deflater = Deflater(window: windowBits, size: octets.count)
        // The empty block at the end is left off; the receiver puts it back.
        return deflater.compress(octets.span, .sync).dropLast(MessageInflater.tail.count)
    }
}
