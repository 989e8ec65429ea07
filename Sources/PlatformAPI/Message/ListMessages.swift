import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations/{C}/messages` (platform-api §5.2.2).
    func listMessages() async throws -> Reply {
        let page = try PageQuery<Message>(query, .messages)
        let policy = try InlinePolicy(query)
        let filter = try MessageFilter(query, version)
        let found =
            if let position = try query.asOf(filter) {
                try await store.messages(
                    in: conversation(), asOf: position, after: page.after, limit: page.limit,
                    in: application)
            } else {
                try await store.messages(
                    in: conversation(), matching: filter, after: page.after, limit: page.limit,
                    in: application)
            }
        return try await reply(found, page, .system, policy)
    }

    /// A page of messages as somebody sees them.
    func reply(
        _ found: Page<MessageSnapshot>, _ page: PageQuery<Message>,
        _ perspective: LinkBuilder.Perspective, _ policy: InlinePolicy?
    ) async throws -> Reply {
        let messages = found.items.prefix(page.size)
        let presentation = await presentation(perspective, of: messages.map(\.message), policy)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for message in messages { MessageJSON(message).write(presentation, into: &writer) }
        }
        let reply = try listing(writer.finish(), of: found, size: page.size) { found in
            found.message.id.uuid
        }
        guard let winner = found.conversation, try winner != conversation() else { return reply }
        // An alias led here (X1.2, ruling 13).
        return reply.adding(
            "Content-Location",
            links.location(ofList: try listPath(in: winner), query.all))
    }
}
