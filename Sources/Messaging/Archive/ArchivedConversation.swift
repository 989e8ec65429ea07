/// A conversation without its messages.
public struct ArchivedConversation: Equatable, Sendable {
    /// The conversation; its `messageCount` is 0.
    public let conversation: Conversation
    /// The aliases of the conversation, sorted by bytes (X1.2).
    public let aliases: [Conversation.ID]
    /// The current and former participants; none of a deleted conversation.
    public let members: [ArchivedParticipant]

    /// All members.
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
        conversation.participantCount = present.count
        conversation.messageCount = 0
        self.conversation = conversation
        self.aliases = aliases
        self.members = members
    }

    /// Returns the receipts of the message at a position according to this record, without participants that have not
    /// received it and from which it is not hidden.
    public func recipients(at position: Position) -> [ArchivedMessage.Recipient] {
        members.compactMap { member in
            let status = member.receipts.status(at: position)
            let isHidden =
                position <= member.participant.clearedTo || member.hidden.contains(position.number)
            guard status > .sent || isHidden else { return nil }
            return ArchivedMessage.Recipient(
                member.participant.userID, status: status, isHidden: isHidden)
        }
    }
}

/// One current or former participant with their view of a conversation.
public struct ArchivedParticipant: Equatable, Sendable {
    /// The participation.
    public let participant: Participant
    /// The number that orders the participants.
    public let place: Int64
    /// The position of the message that last made the conversation visible to the participant; `nil` if it was not a
    /// message.
    public let shownFrom: Position?
    /// Single positions that the participant does not see: deleted for themselves, or hidden by a block
    /// (R29, R32).
    public let hidden: IntervalSet
    /// The received and read positions.
    public let receipts: Receipts
    /// The metadata that a former participant still sees (R14).
    public let frozenMetadata: Metadata?

    /// All members.
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

    /// The same participant of a distinct conversation, in which all users take part from the beginning
    /// (R5). Earlier messages count as read, so they are unread on neither server.
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
