import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PATCH /conversations/{C}` (platform-api §5.1.5): all operations, or none.
    func patchConversation(_ body: JSONValue) async throws -> Reply {
        try await demanding { (conversation: ConversationSnapshot) in
            json(conversation)
        } change: { demand in
            let operations = try ConversationPatchJSON.read(
                body.asPatch(), version, store.limits)
            let asked = try conversation()
            let found = try await store.patchConversation(
                asked, operations, if: demand, in: application)
            return patched { json(found) }.tagged(found.conversation.version)
                .locating(found.conversation.id, askedAs: asked, links)
        }
    }
}
