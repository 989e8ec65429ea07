public import Messaging
import SQL

extension MessagingStore {
    /// Whom a user blocks, in the order of their ids; nobody for a user who is unknown (R30).
    public func blocks(
        of owner: UserID, in application: Application.ID
    ) async throws -> [BasicIdentity] {
        try await database.read { transaction in
            try transaction.blockedIdentities(of: owner, in: application)
        }
    }
}
