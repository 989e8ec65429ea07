public import Messaging
import SQL

extension MessagingStore {
    /// A user who has an identity, told or made by being named.
    ///
    /// - Throws: `Rejection.notFound(.identity)`, also after its deletion.
    public func identity(of user: UserID, in application: Application.ID) async throws -> User {
        try await database.read { transaction in
            try transaction.identifiedUser(user, in: application)
        }
    }
}
