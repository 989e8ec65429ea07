import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/conversations/{C}/messages` (platform-api §5.2.3).
    func listVisibleMessages() async throws -> Reply {
        let page = try PageQuery<Message>(query, .messages)
        let policy = try InlinePolicy(query)
        let filter = try MessageFilter(query, version)
        let user = try user()
        let found =
            if let position = try query.asOf(filter) {
                try await store.messages(
                    in: conversation(), asOf: position, seenBy: user, after: page.after,
                    limit: page.limit, in: application)
            } else {
                try await store.messages(
                    in: conversation(), seenBy: user, matching: filter, after: page.after,
                    limit: page.limit, in: application)
            }
        return try await reply(found, page, .user(user), policy)
    }

    /// `GET /users/{u}/messages/{M}` (platform-api §5.2.4).
    func readVisibleMessage() async throws -> Reply {
        let (policy, showsTransfer) = (try inlinePolicy(), try showsTransfer())
        let user = try user()
        let (found, basis) = try await store.messageWithBasis(
            message(), seenBy: user, in: nil, in: application)
        var presentation = await presentation(.user(user), of: [found.message], policy)
        presentation.showsTransfer = showsTransfer
        let json = json(found, presentation)
        remember(found, as: json, user, basis)
        return Reply(.ok, json).tagged(found.message.version)
    }

    /// The same from memory.
    func recallVisibleMessage() -> Reply? {
        guard let user = try? user(), let known = recallMessage(seenBy: user) else { return nil }
        return Reply(.ok, known.json).tagged(known.version)
    }

    /// A message as a user sees it, its contents as links.
    func json(_ message: MessageSnapshot, seenBy user: UserID) -> [UInt8] {
        json(message, presentation(.user(user)))
    }
}
