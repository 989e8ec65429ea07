/// What a peer may send on one WebSocket.
package struct FrameLimits: Sendable {
    /// The largest message in octets, decoded where it was compressed (H138, H150).
    package var message = 1 << 20
    /// The largest frame in octets, as it came (H138).
    package var frame = 1 << 20
    /// The most fragments of one message, empty ones included (H135).
    package var fragments = 1024
    /// Whether binary messages are refused (H149).
    package var isTextOnly = false
    /// Whether messages may come compressed, because that was agreed (H150).
    package var inflates = false

    /// The defaults.
    package init() {}
}
