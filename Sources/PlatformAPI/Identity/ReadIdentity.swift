import HTTP
import Messaging
import MessagingStore

extension Call {
    /// `GET /users/{u}/identity` (platform-api §5.7).
    func readIdentity() async throws -> Reply {
        let found = try await store.identity(of: user(), in: application)
        return reading(found.identityVersion) { Reply(.ok, json(found)) }
    }
}
