import Messaging
import SQL

extension MessagingStore {
    /// What a secret opens; `nil` for an unknown, expired or revoked one.
    ///
    /// A token of a suspended application is still a valid one: look at the grant's application.
    public func authenticate(_ secret: some Sequence<UInt8>) async throws -> Grant? {
        let digest = environment.sha256(Array(secret))
        let now = environment.now()
        if let grant = authentication.grant(for: digest, at: now) { return grant }
        let grant = try await database.read { transaction in try transaction.grant(of: digest) }
        guard let grant, grant.token.holds(at: now) else { return nil }
        authentication.keep(grant, for: digest, readAt: now)
        return grant
    }

    /// What a secret opens, when that was read within the last second; never waits.
    public func cachedGrant(_ secret: some Sequence<UInt8>) -> Grant? {
        authentication.grant(for: environment.sha256(Array(secret)), at: environment.now())
    }
}

extension Transaction {
    /// What the secret with this digest opens; `nil` for an unknown one.
    fileprivate func grant(of digest: [UInt8]) throws -> Grant? {
        let token = try first(
            """
            SELECT id, application, scope, created_at, expires_at, revoked_at FROM tokens
            WHERE digest = \(digest)
            """
        ) { row in try Token(row) }
        guard let token, let application = try application(token.application) else { return nil }
        return Grant(application: application, token: token)
    }
}
