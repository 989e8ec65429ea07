/// A topic that webhooks and scheduled exports subscribe to (webhooks §4.2).
///
/// Raw values are stored in rows and never change; the public names are in `MessagingWire`.
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
    // Topics of versions 2.0 and 3.0 only.
    case receiptCreated = "receipt.created"
    case messageUpdated = "message.updated"
    case partCreated = "part.created"
    case partUpdated = "part.updated"
    case partDeleted = "part.deleted"
    case participationCreated = "participation.created"
    case participationDeleted = "participation.deleted"
    // Channels can be subscribed to, but do not exist yet, so they have no events.
    case channelCreated = "channel.created"
    case channelUpdated = "channel.updated"
    case channelDeleted = "channel.deleted"
    case membershipCreated = "membership.created"
    case membershipDeleted = "membership.deleted"

    /// The topics of a version.
    public static func all(in version: WebhookVersion) -> [WebhookTopic] {
        allCases.filter { topic in topic.versions.contains(version) }
    }

    /// The versions with this topic.
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
    /// The types of the events of the topic.
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

/// The public id of an event, which is the same in all deliveries.
public typealias EventID = Identifier<Event>

/// The version of a webhook's request bodies (webhooks §4.1).
///
/// Raw values are stored in rows and never change.
public enum WebhookVersion: String, CaseIterable, Sendable {
    case v1_0 = "1.0"
    case v2_0 = "2.0"
    case v3_0 = "3.0"
}
