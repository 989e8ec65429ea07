/// What one participant, of now or of before, sees of a conversation and has made of it.
public struct MovedMember: Equatable, Sendable {
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
    public var fromTheBeginning: MovedMember {
        guard participant.joinedAfter > .start else { return self }
        let past = IntervalSet(1...participant.joinedAfter.number)
        return MovedMember(
            Participant(
                userID: participant.userID, state: participant.state,
                clearedTo: participant.clearedTo),
            place: place, shownFrom: shownFrom, hidden: hidden,
            receipts: receipts.recording(.read, of: past), frozenMetadata: frozenMetadata)
    }
}
