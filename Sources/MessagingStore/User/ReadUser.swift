public import Messaging
import SQL

extension MessagingStore {
    /// A user.
    ///
    /// - Throws: `Rejection.notFound(.user)` for one nobody has named.
    public func user(_ id: UserID, in application: Application.ID) async throws -> User {
        try await database.read { transaction in
            guard let user = try transaction.user(id, in: application) else {
                throw Rejection.notFound(.user)
            }
            return user
        }
    }
}
