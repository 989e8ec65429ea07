/// What receivers of events ask for: webhooks, and exports of what happened (webhooks §4.2).
///
/// Raw values stand in rows and are never changed; what they are called outside is of the wire.
public enum WebhookTopic: String, CaseIterable, Sendable {
    case messageSent = "message.sent"
    case messageDelivered = "message.delivered"
    case messageRead = "message.read"
    case messageDeleted = "message.deleted"
    case conversationCreated = "conversation.created"
    case participantsChanged = "participants.changed"
    case metadataChanged = "metadata.changed"
    case conversationMerged = "conversation.merged"
    case conversationDeleted = "conversation.deleted"
    // What only later versions of webhooks know.
    case receiptCreated = "receipt.created"
    case messageUpdated = "message.updated"
    case partCreated = "part.created"
    case partUpdated = "part.updated"
    case partDeleted = "part.deleted"
    case participationCreated = "participation.created"
    case participationDeleted = "participation.deleted"
    // Channels may be asked for; there are none yet, so nothing is heard of them.
    case channelCreated = "channel.created"
    case channelUpdated = "channel.updated"
    case channelDeleted = "channel.deleted"
    case membershipCreated = "membership.created"
    case membershipDeleted = "membership.deleted"

    /// What receivers of a version may ask for.
    public static func all(in version: WebhookVersion) -> [WebhookTopic] {
        allCases.filter { topic in topic.versions.contains(version) }
    }

    /// The versions that know it.
    public var versions: Set<WebhookVersion> {
        switch self {
        case .messageSent, .messageDeleted, .conversationCreated, .metadataChanged,
            .conversationMerged, .conversationDeleted:
            [.v1_0, .v2_0, .v3_0]
        case .messageDelivered, .messageRead, .participantsChanged: [.v1_0]
        case .messageUpdated: [.v2_0]
        case .partCreated, .partUpdated, .partDeleted: [.v3_0]
        case .receiptCreated, .participationCreated, .participationDeleted, .channelCreated,
            .channelUpdated, .channelDeleted, .membershipCreated, .membershipDeleted:
            [.v2_0, .v3_0]
        }
    }
}

extension WebhookTopic {
    /// The types of the events that are told of under it.
    public var types: Set<EventType> {
        switch self {
        case .messageSent: [.messageSent]
        case .messageDelivered: [.messageDelivered]
        case .messageRead: [.messageRead]
        case .receiptCreated: [.messageDelivered, .messageRead]
        case .messageDeleted: [.messageDeleted]
        case .messageUpdated, .partCreated, .partUpdated, .partDeleted: [.messageUpdated]
        case .conversationCreated: [.conversationCreated]
        case .participantsChanged, .participationCreated, .participationDeleted:
            [.participantsChanged]
        case .metadataChanged: [.metadataChanged, .conversationMerged]
        case .conversationMerged: [.conversationMerged]
        case .conversationDeleted: [.conversationDeleted]
        case .channelCreated, .channelUpdated, .channelDeleted, .membershipCreated,
            .membershipDeleted:
            []
        }
    }
}

/// The public id of an event: the same whenever and wherever it is delivered.
public typealias EventID = Identifier<Event>

/// What every webhook body and every line of an export starts with.
public struct WebhookEventHeader: Sendable {
    /// Its name.
    public let id: EventID
    /// What happened.
    public let topic: WebhookTopic
    /// When.
    public let at: Timestamp
    /// Who did it; `nil` when the application did, on behalf of nobody.
    public let actor: Sender?

    /// What is to be told.
    public init(id: EventID, topic: WebhookTopic, at moment: Timestamp, actor: Sender?) {
        self.id = id
        self.topic = topic
        at = moment
        self.actor = actor
    }
}

/// The shape of what a webhook is sent (webhooks §4.1).
///
/// Raw values stand in rows and are never changed.
public enum WebhookVersion: String, CaseIterable, Sendable {
    case v1_0 = "1.0"
    case v2_0 = "2.0"
    case v3_0 = "3.0"
}
