/// A user deleted a conversation for himself, or left it (R16, R17).
public struct ConversationHidden: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// Whose view it is.
    public let user: UserID
    /// He never sees messages up to here again; `nil` when he left, which takes nothing away from
    /// him should he be added again (rulings 15).
    public let upTo: Position?
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        conversation: Conversation.ID, user: UserID, upTo place: Position?, at moment: Timestamp
    ) {
        self.conversation = conversation
        self.user = user
        upTo = place
        at = moment
    }
}
