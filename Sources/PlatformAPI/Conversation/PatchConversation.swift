import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PATCH /conversations/{C}` (platform-api §5.1.5): all operations, or none.
    func patchConversation(_ body: JSONValue) async throws -> Reply {
        guard ConversationPatchJSON.isPatch(body) else {
            throw APIError(.invalidRequest, "A patch is an array of operations.")
        }
        let operations = try ConversationPatchJSON.read(body, version)
        let asked = try conversation()
        let patched = try await store.patchConversation(asked, operations, in: application)
        return .noContent.locating(patched.conversation.id, askedAs: asked, links)
    }
}
