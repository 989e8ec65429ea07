import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /exports/{id}/status` (platform-api §5.12): 202 until it is completed.
    func readExport() async throws -> Reply {
        let export = try await store.export(export(), in: application)
        return Reply(export.status == .completed ? .ok : .accepted, json(export))
    }

    /// The export in the path; a malformed UUID names nothing (ruling 7).
    func export() throws(Rejection) -> Export.ID {
        guard let id = parameters["export"].flatMap({ Export.ID(uuid: $0) }) else {
            throw .notFound(.export)
        }
        return id
    }
}
