import JSON
import Messaging

extension ConversationJSON {
    /// The object as webhooks show it: that of the API, its metadata in their order (webhooks §4.3).
    func writeForWebhook(_ presentation: Presentation, into writer: inout JSONWriter) {
        ConversationJSON(
            id: id, createdAt: createdAt, participants: participants, isDistinct: isDistinct,
            metadata: metadata.inMemberOrder
        ).write(presentation, into: &writer)
    }
}
