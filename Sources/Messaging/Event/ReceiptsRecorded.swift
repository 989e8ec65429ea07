/// A participant received or read messages he had not yet.
public struct ReceiptsRecorded: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The participant.
    public let user: UserID
    /// Received or read.
    public let kind: Receipts.Kind
    /// The positions it is new for.
    ///
    /// At least one is another's message; between them may lie his own and deleted ones, which a
    /// receipt means nothing to, so that marking a long conversation is one interval.
    public let positions: IntervalSet
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        conversation: Conversation.ID, user: UserID, kind: Receipts.Kind, positions: IntervalSet,
        at moment: Timestamp
    ) {
        self.conversation = conversation
        self.user = user
        self.kind = kind
        self.positions = positions
        at = moment
    }
}
