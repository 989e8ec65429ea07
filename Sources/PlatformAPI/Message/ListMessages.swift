import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /conversations/{C}/messages` (platform-api §5.2.2).
    func listMessages() async throws -> Reply {
        let page = try PageQuery<Message>(Query(request.target), .messages)
        let found = try await store.messages(
            in: conversation(), after: page.after, limit: page.size, in: application)
        return Reply(.ok, json(found.items, .system))
            .adding("Layer-Count", String(found.total))
    }

    /// A page of messages as somebody sees them.
    func json(_ messages: [MessageSnapshot], _ perspective: LinkBuilder.Perspective) -> [UInt8] {
        let presentation = presentation(perspective)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for message in messages { MessageJSON(message).write(presentation, into: &writer) }
        }
        return writer.finish()
    }
}
