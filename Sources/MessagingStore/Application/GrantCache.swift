public import Messaging
import SQL
import SystemSupport

/// What a valid token opens.
public struct Grant: Equatable, Sendable {
    /// The only application it opens; look whether it is suspended.
    public let application: Application
    /// The token itself.
    public let token: Token

    /// What a token opens.
    public init(application: Application, token: Token) {
        self.application = application
        self.token = token
    }
}

extension MessagingStore {
    /// What a secret opens; `nil` for an unknown, expired or revoked one.
    ///
    /// A token of a suspended application is still a valid one: look at the grant's application.
    public func authenticate(_ secret: some Sequence<UInt8>) async throws -> Grant? {
        let digest = environment.sha256(Array(secret))
        let now = environment.now()
        if let grant = grantCache.grant(for: digest, at: now) { return grant }
        let grant = try await database.read { transaction in try transaction.grant(of: digest) }
        guard let grant, grant.token.isValid(at: now) else { return nil }
        grantCache.keep(grant, for: digest, readAt: now)
        return grant
    }

    /// What a secret opens, when that was read within the last second; never waits.
    public func cachedGrant(_ secret: some Sequence<UInt8>) -> Grant? {
        grantCache.grant(for: environment.sha256(Array(secret)), at: environment.now())
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

/// Grants this process has read lately, by the SHA-256 of their secrets.
///
/// A grant is believed for a second, so what another process revokes is seen within one.
final class GrantCache: Sendable {
    /// How long a grant is believed, in milliseconds.
    static let belief: Int64 = 1000
    /// Grants kept; beyond it all are forgotten, which costs one read each.
    private static let capacity = 10_000

    private struct Entry {
        let grant: Grant
        let readAt: Timestamp
    }

    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// A grant that needs no look into the database.
    func grant(for digest: [UInt8], at now: Timestamp) -> Grant? {
        entries.withLock { entries in
            guard let entry = entries[digest], entry.grant.token.isValid(at: now),
                (0..<Self.belief).contains(now.milliseconds - entry.readAt.milliseconds)
            else { return nil }
            return entry.grant
        }
    }

    func keep(_ grant: Grant, for digest: [UInt8], readAt moment: Timestamp) {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[digest] = Entry(grant: grant, readAt: moment)
        }
    }

    /// Forgets everything: tokens or applications have changed here.
    func forget() {
        entries.withLock { entries in entries.removeAll() }
    }
}
