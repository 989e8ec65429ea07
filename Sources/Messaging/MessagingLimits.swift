/// The limits of conversations and messages that an operator chooses (ruling 35).
public struct MessagingLimits: Equatable, Sendable {
    /// The most participants that a conversation is given, 1 to 100,000 (R19).
    ///
    /// A conversation that has more already, from before the limit was lowered, stays readable and may
    /// lose participants, but gain none.
    public var participants = 25
    /// The most bytes that all parts of a message have together, at least 2,048 (R23); also the size of
    /// the largest upload.
    public var messageBytes: Int64 = 2_147_483_648

    /// The defaults.
    public init() {}
}
