/// What stands around the octets of a content whose length nobody knows (RFC 9112 §7.1).
public enum ChunkFraming {
    /// Behind the octets of every chunk.
    public static let end: [UInt8] = [0x0D, 0x0A]
    /// Says that the content is complete; whoever misses it knows that something is missing (H88).
    public static let last: [UInt8] = Array("0\r\n\r\n".utf8)

    /// In front of a chunk of that many octets, at least one: zero would end the content.
    public static func head(_ count: Int) -> [UInt8] {
        precondition(count > 0)
        return Array("\(String(count, radix: 16))\r\n".utf8)
    }
}
