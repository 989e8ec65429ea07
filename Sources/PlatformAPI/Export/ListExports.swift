import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /exports` (platform-api §5.12), paged as all lists are.
    func listExports() async throws -> Reply {
        let page = try PageQuery<Export>(query, .exports)
        let found = try await store.exports(
            after: page.after, limit: page.limit, in: application)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for export in found.items.prefix(page.size) { write(export, into: &writer) }
        }
        return try listing(writer.finish(), of: found, size: page.size) { export in
            export.id.uuid
        }
    }
}
