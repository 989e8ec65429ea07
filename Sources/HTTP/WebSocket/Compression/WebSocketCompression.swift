/// How messages are compressed where a client offers it (RFC 7692, H150).
///
/// Every message is compressed by itself, in both directions: a context kept between messages would
/// cost a quarter of a megabyte for each socket, and lets a secret leak into the size of another
/// message. A message that mixes a secret with text of somebody else is still not to be compressed
/// (H115): this is for routes without such messages.
public struct WebSocketCompression: Sendable {
    /// The largest window of the compressor, 9…15 bits; a client may ask for less.
    public var windowBits: Int
    /// Messages of fewer octets go out as they are.
    public var minimum: Int

    /// Makes a policy; `windowBits` outside 9…15 is taken to the nearer end.
    public init(windowBits: Int = 15, minimum: Int = 1024) {
        self.windowBits = min(max(windowBits, 9), 15)
        self.minimum = minimum
    }
}
