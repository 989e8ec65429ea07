/// What receivers of events ask for: webhooks, and exports of what happened.
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
    case conversationDeleted = "conversation.deleted"
}
