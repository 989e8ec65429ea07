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
        let presentation = presentation(.user(user))
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(found).write(presentation, into: &writer)
        return Reply(.ok, writer.finish())
            .locating(found.id, askedAs: asked, presentation.links)
    }
}
