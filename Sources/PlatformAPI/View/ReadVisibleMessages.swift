import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/conversations/{C}/messages` (platform-api §5.2.3).
    func listVisibleMessages() async throws -> Reply {
        let page = try PageQuery<Message>(Query(request.target), .messages)
        let user = try user()
        let found = try await store.messages(
            in: conversation(), seenBy: user, after: page.after, limit: page.size,
            in: application)
        return Reply(.ok, json(found.items, .user(user)))
            .adding("Layer-Count", String(found.total))
    }

    /// `GET /users/{u}/messages/{M}` (platform-api §5.2.4).
    func readVisibleMessage() async throws -> Reply {
        let user = try user()
        let found = try await store.message(message(), seenBy: user, in: application)
        var writer = JSONWriter(capacity: 2048)
        MessageJSON(found).write(presentation(.user(user)), into: &writer)
        return Reply(.ok, writer.finish())
    }
}
