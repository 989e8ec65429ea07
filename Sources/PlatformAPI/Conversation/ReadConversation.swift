import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations/{C}` (platform-api §5.1.2).
    func readConversation() async throws -> Reply {
        let asked = try conversation()
        let found =
            if let position = try query.asOf() {
                try await store.conversation(asked, asOf: position, in: application)
            } else {
                try await store.conversation(asked, in: application)
            }
        return reading(found.conversation.version) { Reply(.ok, json(found)) }
            .locating(found.conversation.id, askedAs: asked, links)
    }

    /// A conversation as the system sees it.
    func json(_ conversation: ConversationSnapshot) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(conversation).write(presentation(), into: &writer)
        return writer.finish()
    }
}
