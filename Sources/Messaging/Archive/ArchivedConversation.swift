/// A conversation without its messages.
public struct ArchivedConversation: Equatable, Sendable {
    /// The conversation; its messages are not counted.
    public let conversation: Conversation
    /// The ids that lead to it, in the order of their bytes (X1.2).
    public let aliases: [Conversation.ID]
    /// Who takes or took part; nobody in one that was deleted.
    public let members: [ArchivedParticipant]

    /// A conversation as stored.
    ///
    /// - Parameter conversation: Its participants are taken from `members`.
    public init(
        _ conversation: Conversation, aliases: [Conversation.ID] = [],
        members: [ArchivedParticipant]
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
    public func recipients(at place: Position) -> [ArchivedMessage.Recipient] {
        members.compactMap { member in
            let status = member.receipts.status(at: place)
            let isHidden =
                place <= member.participant.clearedTo || member.hidden.contains(place.number)
            guard status > .sent || isHidden else { return nil }
            return ArchivedMessage.Recipient(
                member.participant.userID, status: status, isHidden: isHidden)
        }
    }
}

/// What one participant, of now or of before, sees of a conversation and has made of it.
public struct ArchivedParticipant: Equatable, Sendable {
    /// His stay and his view.
    public let participant: Participant
    /// Where he stands in the order of naming.
    public let place: Int64
    /// The message that last brought the conversation into his view; `nil` when something else did.
    public let shownFrom: Position?
    /// Single positions hidden from him: deleted by him, or by a block (R29, R32).
    public let hidden: IntervalSet
    /// What he has received and read.
    public let receipts: Receipts
    /// The metadata he goes on seeing after his removal (R14).
    public let frozenMetadata: Metadata?

    /// A participant as stored.
    public init(
        _ participant: Participant, place: Int64, shownFrom: Position? = nil,
        hidden: IntervalSet = IntervalSet(), receipts: Receipts = Receipts(),
        frozenMetadata: Metadata? = nil
    ) {
        self.participant = participant
        self.place = place
        self.shownFrom = shownFrom
        self.hidden = hidden
        self.receipts = receipts
        self.frozenMetadata = frozenMetadata
    }

    /// The same participant of a distinct conversation, who takes part from the beginning (R5): what was
    /// there before counts as read, so it is unread for neither.
    public var fromTheBeginning: ArchivedParticipant {
        guard participant.joinedAfter > .start else { return self }
        let past = IntervalSet(1...participant.joinedAfter.number)
        return ArchivedParticipant(
            Participant(
                userID: participant.userID, state: participant.state,
                clearedTo: participant.clearedTo),
            place: place, shownFrom: shownFrom, hidden: hidden,
            receipts: receipts.recording(.read, of: past), frozenMetadata: frozenMetadata)
    }
}
