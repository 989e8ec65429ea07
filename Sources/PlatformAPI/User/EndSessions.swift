import Messaging
import MessagingStore

extension Call {
    /// `DELETE /users/{u}/sessions`.
    func endSessions() async throws -> Reply {
        try await store.endSessions(of: user(), in: application)
        return .noContent
    }
}
