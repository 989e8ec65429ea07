/// A message that waits to be sent: nobody sees it, and it has no place and no time yet.
public struct ScheduledMessage: Equatable, Sendable {
    /// The name it will have, promised to it from now on.
    public let id: Message.ID
    /// Where it will go, unless that is deleted by then.
    public let conversation: Conversation.ID
    /// What will be sent, by whom; every part bears the name it will have.
    public let draft: Message.Draft
    /// When it is due.
    public let dueAt: Timestamp
    /// From when on its sender shows as typing.
    public let typingFrom: Timestamp?

    /// A message as stored.
    public init(
        id: Message.ID, conversation: Conversation.ID, draft: Message.Draft, dueAt: Timestamp,
        typingFrom: Timestamp?
    ) {
        self.id = id
        self.conversation = conversation
        self.draft = draft
        self.dueAt = dueAt
        self.typingFrom = typingFrom
    }
}
