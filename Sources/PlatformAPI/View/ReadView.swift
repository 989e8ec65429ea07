import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/conversations/{C}` (platform-api §5.1.4).
    func readView() async throws -> Reply {
        let (asked, user) = (try conversation(), try user())
        let found = try await store.conversation(asked, seenBy: user, in: application)
        return Reply(.ok, json(found, seenBy: user))
            .locating(found.id, askedAs: asked, links(.user(user)))
    }

    /// A conversation as a user sees it.
    func json(_ view: ConversationView, seenBy user: UserID) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(view).write(presentation(.user(user)), into: &writer)
        return writer.finish()
    }
}
