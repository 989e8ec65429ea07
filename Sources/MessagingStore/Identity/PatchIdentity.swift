public import Messaging

extension MessagingStore {
    /// Sets members of an identity, all of it or nothing; where nothing changes nothing is recorded.
    ///
    /// - Parameter demand: What the identity's version must be (X4).
    /// - Throws: `Rejection`: `notFound(.identity)`; `invalid("metadata")` above 16 keys (R49);
    ///   `VersionMismatch<User>`.
    @discardableResult
    public func patchIdentity(
        of user: UserID, _ patches: [IdentityPatch], if demand: VersionDemand = .any,
        in application: Application.ID
    ) async throws -> User {
        try await change(in: application) { recording in
            let before = try recording.transaction.identifiedUser(user, in: application)
            try demand.check(before.identityVersion) { before }
            guard let event = try before.identity.patching(patches) else { return before }
            try recording.record(event)
            return try recording.transaction.identifiedUser(user, in: application)
        }
    }
}
