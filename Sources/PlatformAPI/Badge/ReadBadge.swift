import HTTP
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `GET /users/{u}/badge` (platform-api §5.10).
    func readBadge() async throws -> Reply {
        Reply(.ok, BadgeJSON.bytes(try await store.badge(of: user(), in: application)))
    }
}
