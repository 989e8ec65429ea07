public import Messaging
import SQL
import SystemSupport

/// The application and token that a valid secret belongs to.
public struct Grant: Equatable, Sendable {
    /// The application; it may be suspended.
    public let application: Application
    /// The token.
    public let token: Token

    /// Creates a grant.
    public init(application: Application, token: Token) {
        self.application = application
        self.token = token
    }
}

extension MessagingStore {
    /// Looks up the token with a secret; `nil` for an unknown, expired or revoked one.
    ///
    /// The token of a suspended application is valid: check the application of the grant.
    public func authenticate(_ secret: some Sequence<UInt8>) async throws -> Grant? {
        let digest = environment.sha256(Array(secret))
        let now = environment.now()
        if let grant = grantCache.grant(for: digest, at: now) { return grant }
        let grant = try await database.read { transaction in try transaction.grant(of: digest) }
        guard let grant, grant.token.isValid(at: now) else { return nil }
        grantCache.store(grant, for: digest, readAt: now)
        return grant
    }

    /// The cached grant of a secret, if it was read within the last second; never waits.
    public func cachedGrant(_ secret: some Sequence<UInt8>) -> Grant? {
        grantCache.grant(for: environment.sha256(Array(secret)), at: environment.now())
    }
}

extension Transaction {
    /// The grant for the digest of a secret; `nil` for an unknown one.
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

/// A cache of grants, by the SHA-256 of their secrets.
///
/// An entry is used for one second, so a token revoked by another process is rejected within one second.
final class GrantCache: Sendable {
    /// How long an entry is used, in milliseconds.
    private static let lifetime: Int64 = 1000
    /// The maximum number of entries. When it is reached, the cache is cleared, and each secret is looked up again.
    private static let capacity = 10_000

    private struct Entry {
        let grant: Grant
        let readAt: Timestamp
    }

    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// The cached grant for the digest of a secret.
    func grant(for digest: [UInt8], at now: Timestamp) -> Grant? {
        entries.withLock { entries in
            guard let entry = entries[digest], entry.grant.token.isValid(at: now),
                (0..<Self.lifetime).contains(now.milliseconds - entry.readAt.milliseconds)
            else { return nil }
            return entry.grant
        }
    }

    func store(_ grant: Grant, for digest: [UInt8], readAt moment: Timestamp) {
        entries.withLock { entries in
            if entries.count >= Self.capacity { entries.removeAll() }
            entries[digest] = Entry(grant: grant, readAt: moment)
        }
    }

    /// Clears the cache after a change of tokens or applications by this process.
    func clear() {
        entries.withLock { entries in entries.removeAll() }
    }
}
