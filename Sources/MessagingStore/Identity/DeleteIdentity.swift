public import Messaging

extension MessagingStore {
    /// Deletes what was told about a user; he stays, and is shown without names.
    ///
    /// - Parameter demand: What the identity's version must be (X4).
    /// - Throws: `Rejection.notFound(.identity)`, also when it is deleted already;
    ///   `VersionMismatch<User>`.
    public func deleteIdentity(
        of user: UserID, if demand: VersionDemand = .any, in application: Application.ID
    ) async throws {
        try await change(in: application) { recording in
            let before = try recording.transaction.identifiedUser(user, in: application)
            try demand.check(before.identityVersion) { before }
            try recording.record(.identityDeleted(user))
        }
    }
}
