import HTTP
import JSON
import Messaging
import MessagingShapes
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/conversations` (platform-api §5.1.3).
    func listConversations() async throws -> Reply {
        let query = try Query(request.target)
        let page = try PageQuery<Conversation>(query, .conversations)
        let order = try order(query["sort_by"])
        let filter = try ConversationFilter(query, version)
        let user = try user()
        let found = try await store.conversations(
            of: user, matching: filter, sortedBy: order, after: page.after, limit: page.limit,
            in: application)
        let presentation = presentation(.user(user))
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for view in found.items.prefix(page.size) {
                ConversationJSON(view).write(presentation, into: &writer)
            }
        }
        let reply = try listing(writer.finish(), of: found, size: page.size) { view in
            view.id.uuid
        }
        guard let start = found.start, start != page.after else { return reply }
        // An alias led here (X1.2, ruling 13).
        return reply.adding(
            "Content-Location",
            links.location(ofList: try listPath(in: nil), query.starting(after: start.uuid)))
    }

    private func order(_ text: String?) throws(Rejection) -> ConversationOrder {
        switch text {
        case nil, "created_at": .createdAt
        case "last_message": .lastMessage
        default: throw .invalid("sort_by")
        }
    }
}
