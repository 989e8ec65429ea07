import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PATCH /users/{u}/conversations/{C}` (platform-api §5.1.7): all operations, or none.
    func patchView(_ body: JSONValue) async throws -> Reply {
        try await demanding { (view: ConversationView) in
            json(view, seenBy: try user())
        } change: { demand in
            let operations = try ConversationPatchJSON.read(
                body.asPatch(), version, store.limits)
            let (user, asked) = (try user(), try conversation())
            let found = try await store.patchConversation(
                asked, operations, by: user, if: demand, in: application)
            return patched { json(found, seenBy: user) }.tagged(found.version)
                .locating(found.id, askedAs: asked, links(.user(user)))
        }
    }

    /// `DELETE /users/{u}/conversations/{C}?mode=…` (platform-api §5.1.7, client-api §4.1).
    func deleteView() async throws -> Reply {
        try await demanding { (view: ConversationView) in
            json(view, seenBy: try user())
        } change: { demand in
            let deletion = try DeletionQuery(query).ofConversation()
            let (user, asked) = (try user(), try conversation())
            let own = try await store.deleteConversation(
                asked, deletion, by: user, if: demand, in: application)
            return Reply.noContent.locating(own, askedAs: asked, links(.user(user)))
        }
    }
}
