import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/conversations/{C}` (platform-api §5.1.4).
    ///
    /// The tag is for a change (X4), and none of it is a condition here: messages and receipts raise no
    /// version (ruling 14), so a 304 would hide what a reader of a view asks for.
    func readView() async throws -> Reply {
        let (asked, user) = (try conversation(), try user())
        let found =
            if let position = try query.asOf() {
                try await store.conversation(
                    asked, asOf: position, seenBy: user, in: application)
            } else {
                try await store.conversation(asked, seenBy: user, in: application)
            }
        let reply = Reply(.ok, json(found, seenBy: user))
            .locating(found.id, askedAs: asked, links(.user(user)))
        // What a former participant sees is frozen, and he changes nothing: no version is his.
        return found.isFormer ? reply : reply.tagged(found.version)
    }

    /// A conversation as a user sees it.
    func json(_ view: ConversationView, seenBy user: UserID) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(view).write(presentation(.user(user)), into: &writer)
        return writer.finish()
    }
}
