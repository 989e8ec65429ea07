/// The limits of conversations and messages that an operator chooses (ruling 35).
public struct MessagingLimits: Equatable, Sendable {
    /// The maximum number of participants of a conversation, 1 to 100,000 (R19).
    ///
    /// A conversation that already has more participants when the limit is lowered stays usable: participants can be
    /// removed but not added.
    public var participants = 25
    /// The number of participants above which a conversation is wide, at least 1 (ruling 38).
    ///
    /// Another number takes effect on a conversation when its participants change next.
    public var wideConversation = 100
    /// The maximum number of bytes of all parts of a message together, at least 2,048 (R23); also the
    /// maximum size of an upload.
    public var messageBytes: Int64 = 2_147_483_648

    /// The defaults.
    public init() {}

    /// Whether a conversation of this many participants is wide (ruling 38).
    public func isWide(_ participants: Int) -> Bool { participants > wideConversation }
}

/// A moment in whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970 UTC; negative before.
    public let milliseconds: Int64

    /// The moment this many milliseconds after 1970 UTC.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The earlier moment comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment one millisecond later.
    public var next: Timestamp { Timestamp(milliseconds: milliseconds &+ 1) }
}
