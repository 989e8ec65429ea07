/// The participant set of a conversation changed.
public struct ParticipantsChanged: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// Who takes part now, in order.
    public let participants: Participants
    /// Who was not among them before.
    public let added: [UserID]
    /// Who is no more.
    public let removed: [UserID]
    /// The last message before the change.
    public let after: Position
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        conversation: Conversation.ID, participants: Participants, added: [UserID],
        removed: [UserID], after: Position, at moment: Timestamp
    ) {
        self.conversation = conversation
        self.participants = participants
        self.added = added
        self.removed = removed
        self.after = after
        at = moment
    }
}
