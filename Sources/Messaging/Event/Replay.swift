/// De-duplication of creations by `If-None-Match` (platform-api 1.9).
public enum Replay {
    /// The UUID a caller sends with a creation; it becomes the new object's id when nothing has it.
    public typealias Key = Identifier<Replay>
}

extension Replay {
    /// What a replay key stands for; keys of different things do not meet (platform-api 1.9).
    public enum Kind: String, CaseIterable, Sendable {
        case conversation, message, announcement
        /// A distinct conversation that was there already: its replay answers as the match did.
        case match
        /// A message that is or was to be sent later; its id is promised to it under the id itself, too.
        case scheduled
        /// A batch of messages; it stands for their conversation.
        case batch

        /// What the key of a sending may stand for.
        public static let sendingNames = [Kind.message, .scheduled, .batch].map(\.rawValue)
    }
}

/// What a caller names a request by, so that its repeat does nothing again (X2).
///
/// Equal only as bytes; for ever bound to its application, whichever token sent it.
public struct IdempotencyKey: Hashable, Sendable {
    /// 1 to 255 bytes of visible ASCII.
    public let text: String

    /// Most characters of a key.
    public static let limit = 255

    /// Takes 1 to 255 characters of visible ASCII; `nil` for everything else.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.limit).contains(bytes.count),
            bytes.allSatisfy({ byte in (0x21...0x7E).contains(byte) })
        else { return nil }
        self.text = text
    }
}
