/// The detection of repeated creations by the key in `If-None-Match` (platform-api §1.9).
public enum Replay {
    /// The UUID that a client sends with a creation; it becomes the id of the new object unless that id is in use.
    public typealias Key = Identifier<Replay>
}

extension Replay {
    /// The kind of object that a replay key names; keys of different kinds are independent (platform-api
    /// 1.9).
    public enum Kind: String, CaseIterable, Sendable {
        case conversation, message, announcement
        /// A distinct conversation that existed already; a repeat gets the same answer as the first request.
        case match
        /// A scheduled message, before and after it is sent; its id is reserved under the id itself as well.
        case scheduled
        /// A batch of messages; the key names their conversation.
        case batch
    }
}

/// The `Idempotency-Key` of a request: a repeat with the same key has no further effect (X2).
///
/// Keys are compared byte by byte. All tokens of an application share its keys.
public struct IdempotencyKey: Hashable, Sendable {
    /// 1 to 255 bytes of visible ASCII.
    public let text: String

    /// The maximum number of characters of a key.
    public static let limit = 255

    /// Accepts 1 to 255 characters of visible ASCII; `nil` for any other text.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.limit).contains(bytes.count),
            bytes.allSatisfy({ byte in (0x21...0x7E).contains(byte) })
        else { return nil }
        self.text = text
    }
}
