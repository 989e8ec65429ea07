import HTTP
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}` (platform-api §5.11).
    func readUser() async throws -> Reply {
        Reply(.ok, UserJSON.bytes(try await store.user(user(), in: application), links))
    }
}
