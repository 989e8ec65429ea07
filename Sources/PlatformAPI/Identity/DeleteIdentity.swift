import Messaging
import MessagingStore

extension Call {
    /// `DELETE /users/{u}/identity` (platform-api §5.7): the user stays, without names.
    func deleteIdentity() async throws -> Reply {
        try await demanding { (user: User) in
            json(user)
        } change: { demand in
            try await store.deleteIdentity(of: user(), if: demand, in: application)
            return .noContent
        }
    }
}
