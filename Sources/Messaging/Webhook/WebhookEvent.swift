/// An event of one topic as webhooks and scheduled exports send it, with all the objects that its JSON shows.
public struct WebhookEvent: Sendable {
    /// The webhook versions with this representation: 1.0, or all later ones.
    public let versions: Set<WebhookVersion>
    /// The position of the recorded event.
    public let position: LogPosition
    /// Its id, topic, moment and actor.
    public let occurrence: WebhookEventHeader
    /// The trace of the request; `nil` for none.
    public let trace: Trace?
    /// The identity of the user that acted; `nil` if none did.
    public let actor: BasicIdentity?
    /// The object that changed, in its state right after the event.
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

    /// The object of a webhook event.
    public enum Subject: Equatable, Sendable {
        case message(MessageSnapshot)
        case conversation(ConversationSnapshot)
        /// A conversation that another was merged into, with the ids that name it since.
        case merged(ConversationSnapshot, aliases: [Conversation.ID])
        /// The first and last position of the messages that a participant received or read.
        case receipt(Receipts.Kind, ClosedRange<Int64>, in: Conversation.ID)
        /// Users that were added or removed.
        case participation(ConversationSnapshot, changes: [BasicIdentity])
        /// One part of a message.
        case part(MessagePart, of: Message.ID, in: Conversation.ID)
        /// A removed part, of which only the ids exist.
        case deletedPart(PartsChanged.Removed, of: Message.ID, in: Conversation.ID)
    }

    /// The conversation of the object.
    public var conversation: Conversation.ID {
        switch subject {
        case .message(let snapshot): snapshot.message.conversation
        case .conversation(let snapshot), .merged(let snapshot, _), .participation(let snapshot, _):
            snapshot.conversation.id
        case .receipt(_, _, let id), .part(_, _, let id), .deletedPart(_, _, let id):
            id
        }
    }
}
