/// What receivers of events ask for: webhooks, and exports of what happened (webhooks §4.2).
///
/// Raw values stand in rows and are never changed; what they are called outside is of the wire.
public enum Topic: String, CaseIterable, Sendable {
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
    public static func all(in version: WebhookVersion) -> [Topic] {
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
