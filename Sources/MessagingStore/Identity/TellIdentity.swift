public import Messaging

extension MessagingStore {
    /// Tells for the first time who a user is (platform-api §5.7).
    ///
    /// - Returns: `created` also over an identity that being named has made; `idInUse` where one was
    ///   told before, which stays as it is.
    public func createIdentity(
        _ identity: Identity, in application: Application.ID
    ) async throws -> Creation<User> {
        try await change(in: application) { recording in
            if let user = try recording.transaction.user(identity.userID, in: application),
                user.standing == .told
            {
                return .idInUse(user)
            }
            return .created(try recording.tell(identity))
        }
    }

    /// Tells who a user is, whatever was told before; the same again changes nothing.
    ///
    /// - Parameter demand: What the identity's version must be (X4).
    /// - Throws: `VersionMismatch<User>`; `Rejection.notFound(.identity)` where a version is demanded
    ///   and there is none.
    @discardableResult
    public func replaceIdentity(
        _ identity: Identity, if demand: VersionDemand = .any, in application: Application.ID
    ) async throws -> User {
        try await change(in: application) { recording in
            let user = try recording.transaction.user(identity.userID, in: application)
            guard let user, user.standing != .unknown else {
                try demand.check(0) { () throws -> User in throw Rejection.notFound(.identity) }
                return try recording.tell(identity)
            }
            try demand.check(user.identityVersion) { user }
            guard user.standing != .told || user.identity != identity else { return user }
            return try recording.tell(identity)
        }
    }
}

extension Recording {
    fileprivate func tell(_ identity: Identity) throws -> User {
        try record(.identityTold(identity))
        return try transaction.identifiedUser(identity.userID, in: application)
    }
}
