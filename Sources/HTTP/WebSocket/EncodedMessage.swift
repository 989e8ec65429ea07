/// A message as it stands on the wire; made once, sent to many, never copied (H144).
public struct EncodedMessage: Sendable {
    let frame: [UInt8]

    /// Encodes a message, uncompressed, since each client may have agreed to something else.
    ///
    /// - Parameter message: Text must be UTF-8.
    public init(_ message: WebSocketMessage) {
        frame =
            switch message {
            case .text(let octets): FrameEncoder.encode(.text, octets)
            case .binary(let octets): FrameEncoder.encode(.binary, octets)
            }
    }
}
