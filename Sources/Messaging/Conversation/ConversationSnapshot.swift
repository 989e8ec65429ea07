/// A conversation with everything that its JSON shows.
public struct ConversationSnapshot: Equatable, Sendable {
    /// The conversation; for a request with an alias, the conversation that the alias names (X1.2).
    public let conversation: Conversation
    /// The current participants in the order in which they were named; the first ``shownParticipants`` of a wide
    /// conversation (ruling 38).
    public let participants: [BasicIdentity]

    /// All members.
    public init(conversation: Conversation, participants: [BasicIdentity]) {
        self.conversation = conversation
        self.participants = participants
    }

    /// The number of participants that a wide conversation shows.
    public static let shownParticipants = 100

    /// The participants that a conversation shows.
    public static func shown(_ participants: Participants, isWide: Bool) -> [UserID] {
        isWide ? Array(participants.users.prefix(shownParticipants)) : participants.users
    }
}
