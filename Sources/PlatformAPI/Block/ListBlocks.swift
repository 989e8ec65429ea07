import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/blocks`: nobody also for a user who is unknown (platform-api §3.9).
    func listBlocks() async throws -> Reply {
        let blocked = try await store.blocks(of: user(), in: application)
        return Reply(.ok, BlockJSON.bytes(blocked, version, links))
    }
}
