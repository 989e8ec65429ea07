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
        let presentation = presentation()
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for message in found.items { MessageJSON(message).write(presentation, into: &writer) }
        }
        return Reply(.ok, writer.finish()).adding("Layer-Count", String(found.total))
    }
}
