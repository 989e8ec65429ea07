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

    /// What participants have made of the message at a place, by this record: those who have made nothing of
    /// it are left out.
    public func recipients(at place: Position) -> [MovedMessage.Recipient] {
        members.compactMap { member in
            let status = member.receipts.status(at: place)
            let isHidden =
                place <= member.participant.clearedTo || member.hidden.contains(place.number)
            guard status > .sent || isHidden else { return nil }
            return MovedMessage.Recipient(
                member.participant.userID, status: status, isHidden: isHidden)
        }
    }
}
