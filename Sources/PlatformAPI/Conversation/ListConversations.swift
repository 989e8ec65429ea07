import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations` (ruling 37).
    func listConversations() async throws -> Reply {
        let page = try PageQuery<Conversation>(query, .conversations)
        let filter = try ConversationFilter(query, version)
        let found = try await store.conversations(
            matching: filter, after: page.after, limit: page.limit, in: application)
        return try listing(found, page, query, presentation(), id: \.conversation.id) { snapshot in
            ConversationJSON(snapshot)
        }
    }

    /// `GET /users/{u}/conversations` (platform-api §5.1.3).
    func listUserConversations() async throws -> Reply {
        let page = try PageQuery<Conversation>(query, .conversations)
        let order = try order(query["sort_by"])
        let filter = try ConversationFilter(query, version)
        let user = try user()
        let found = try await store.conversations(
            of: user, matching: filter, sortedBy: order, after: page.after, limit: page.limit,
            in: application)
        return try listing(found, page, query, presentation(.user(user)), id: \.id) { view in
            ConversationJSON(view)
        }
    }

    private func listing<Item>(
        _ found: Page<Item>, _ page: PageQuery<Conversation>, _ query: Query,
        _ presentation: Presentation, id: (Item) -> Conversation.ID,
        json: (Item) -> ConversationJSON
    ) throws -> Reply {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for item in found.items.prefix(page.size) {
                json(item).write(presentation, into: &writer)
            }
        }
        let reply = try listing(writer.finish(), of: found, size: page.size) { item in
            id(item).uuid
        }
        guard let start = found.start, start != page.after else { return reply }
        // `from_id` was an alias (X1.2, ruling 13).
        return reply.adding(
            "Content-Location",
            links.location(ofList: try listPath(in: nil), query.starting(after: start.uuid)))
    }

    private func order(_ text: String?) throws(Rejection) -> ConversationOrder {
        switch text {
        case nil, "created_at": .createdAt
        case "last_message": .lastMessage
        default: throw .invalid("sort_by", .sortOrder)
        }
    }
}
