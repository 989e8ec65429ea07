/// An event of one topic as webhooks and scheduled exports send it, with all the objects that its JSON shows.
public struct WebhookEvent: Sendable {
    /// The webhook versions with this representation: 1.0, or all later ones.
    public let versions: Set<WebhookVersion>
    /// The position of the recorded event.
    public let position: LogPosition
    /// Its id, the same for all webhooks.
    public let id: EventID
    /// Its topic.
    public let topic: WebhookTopic
    /// The moment of the event.
    public let at: Timestamp
    /// The user or service that acted; `nil` if the application did not act for a user.
    public let actor: Sender?
    /// The identity of the user that acted; `nil` for a service or none.
    public let actorIdentity: BasicIdentity?
    /// The trace of the request; `nil` for none.
    public let trace: Trace?
    /// The object that changed, in its state right after the event.
    public let subject: Subject

    /// All members.
    public init(
        versions: Set<WebhookVersion>, position: LogPosition, id: EventID, topic: WebhookTopic,
        at moment: Timestamp, actor: Sender?, actorIdentity: BasicIdentity?, trace: Trace?,
        subject: Subject
    ) {
        self.versions = versions
        self.position = position
        self.id = id
        self.topic = topic
        at = moment
        self.actor = actor
        self.actorIdentity = actorIdentity
        self.trace = trace
        self.subject = subject
    }

    /// The object of a webhook event.
    public enum Subject: Equatable, Sendable {
        case message(MessageSnapshot)
        case conversation(ConversationSnapshot)
        /// A conversation into which another was merged, with all ids that now name it.
        case merged(ConversationSnapshot, aliases: [Conversation.ID])
        /// The first and last position of the messages that a participant received or read.
        case receipt(Receipts.Kind, ClosedRange<Int64>, in: Conversation.ID)
        /// Users that were added or removed.
        case participation(ConversationSnapshot, changes: [BasicIdentity])
        /// One part of a message.
        case part(MessagePart, of: Message.ID, in: Conversation.ID)
        /// A removed part, which has only its ids.
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
