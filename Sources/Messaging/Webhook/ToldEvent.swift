/// An occurrence with everything its JSON shows.
public struct WebhookEvent: Sendable {
    /// The versions of webhooks that are told so: 1.0, or later ones, which show everything alike.
    public let versions: Set<WebhookVersion>
    /// Of the event it comes from.
    public let position: LogPosition
    /// What happened.
    public let occurrence: WebhookEventHeader
    /// In which trace it was asked for; `nil` for none.
    public let trace: Trace?
    /// What is known of the user who did it; `nil` when none did.
    public let actor: BasicIdentity?
    /// What it happened to, as it was right after the event.
    public let subject: Subject

    /// All members.
    public init(
        versions: Set<WebhookVersion>, position: LogPosition, occurrence: WebhookEventHeader,
        trace: Trace?, actor: BasicIdentity?, subject: Subject
    ) {
        self.versions = versions
        self.position = position
        self.occurrence = occurrence
        self.trace = trace
        self.actor = actor
        self.subject = subject
    }

    /// What things happen to.
    public enum Subject: Equatable, Sendable {
        case message(MessageSnapshot)
        case conversation(ConversationSnapshot)
        /// One that took in another one, with the ids that lead to it since.
        case merged(ConversationSnapshot, aliases: [Conversation.ID])
        /// A message deleted by an earlier release, of which the log keeps nothing else.
        case deletedMessage(Message.ID, in: Conversation.ID)
        /// A range of messages, first and last, that a participant received or read.
        case receipt(Receipts.Kind, ClosedRange<Int64>, in: Conversation.ID)
        /// Users who came or went.
        case participation(ConversationSnapshot, changes: [BasicIdentity])
        /// One part of a message.
        case part(MessagePart, of: Message.ID, in: Conversation.ID)
        /// One that is no more: rows and log keep nothing else under its name.
        case deletedPart(PartsChanged.Removed, of: Message.ID, in: Conversation.ID)
    }

    /// The conversation it belongs to.
    public var conversation: Conversation.ID {
        switch subject {
        case .message(let snapshot): snapshot.message.conversation
        case .conversation(let snapshot), .merged(let snapshot, _), .participation(let snapshot, _):
            snapshot.conversation.id
        case .deletedMessage(_, let id), .receipt(_, _, let id), .part(_, _, let id),
            .deletedPart(_, _, let id):
            id
        }
    }
}
