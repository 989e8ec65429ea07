/// A conversation without its messages.
public struct MovedConversation: Equatable, Sendable {
    /// The conversation; its messages are not counted.
    public let conversation: Conversation
    /// The ids that lead to it, in the order of their bytes (X1.2).
    public let aliases: [Conversation.ID]
    /// Who takes or took part; nobody in one that was deleted.
    public let members: [MovedMember]

    /// A conversation as stored.
    ///
    /// - Parameter conversation: Its participants are taken from `members`.
    public init(
        _ conversation: Conversation, aliases: [Conversation.ID] = [], members: [MovedMember]
    ) {
        var conversation = conversation
        let present = members.filter { member in !member.participant.isFormer }
            .sorted { left, right in left.place < right.place }
        conversation.participants = Participants(present.map(\.participant.userID))
        conversation.messageCount = 0
        self.conversation = conversation
        self.aliases = aliases
        self.members = members
    }
}
