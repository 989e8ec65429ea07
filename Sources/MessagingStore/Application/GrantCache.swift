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

/// The application and session that a valid session token belongs to.
public struct SessionGrant: Equatable, Sendable {
    /// The application, which is not suspended.
    public let application: Application
    /// The session of a user that is not suspended.
    public let session: Session

    /// Creates a grant.
    public init(application: Application, session: Session) {
        self.application = application
        self.session = session
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
        guard let grant, grant.isValid(at: now) else { return nil }
        grantCache.store(grant, for: digest, readAt: now)
        return grant
    }

    /// The cached grant of a secret, if it was read within the last second; never waits.
    public func cachedGrant(_ secret: some Sequence<UInt8>) -> Grant? {
        grantCache.grant(for: environment.sha256(Array(secret)), at: environment.now())
    }

    /// Looks up the session with a token; `nil` for an unknown, ended or expired one, and for one of a suspended user
    /// or application (client-api §2.4).
    ///
    /// A session that another process has ended is found for up to one second more (``hasSession(_:in:)``).
    public func authenticateSession(
        _ token: some Sequence<UInt8>
    ) async throws -> SessionGrant? {
        let digest = environment.sha256(Array(token))
        let now = environment.now()
        if let grant = sessionCache.grant(for: digest, at: now) { return grant }
        let found = try await database.read { transaction in
            try transaction.sessionGrant(where: "s.digest = \(digest)")
        }
        guard let found, found.isValid(at: now) else { return nil }
        if found.session.lastUsedAt < now.startOfHour {
            // A failure only leaves an earlier hour in the list of sessions.
            try? await noteUse(of: found, at: now)
        }
        sessionCache.store(found, for: digest, readAt: now)
        return found
    }

    /// Whether a session exists now, with a user and an application that are not suspended. It reads the database, so that
    /// it also knows what other processes have ended.
    public func hasSession(
        _ session: Session.ID, in application: Application.ID
    ) async throws -> Bool {
        let found = try await database.read { transaction in
            try transaction.sessionGrant(
                where: "s.application = \(application) AND s.id = \(session)")
        }
        return found?.isValid(at: environment.now()) == true
    }

    /// The cached grant of a session token, if it was read within the last second; never waits.
    public func cachedSessionGrant(_ token: some Sequence<UInt8>) -> SessionGrant? {
        sessionCache.grant(for: environment.sha256(Array(token)), at: environment.now())
    }

    /// Stores the hour of the last use of a session; no event records it.
    private func noteUse(of grant: SessionGrant, at now: Timestamp) async throws {
        let (application, session) = (grant.application.id, grant.session.id)
        try await database.write { transaction in
            try transaction.execute(
                """
                UPDATE sessions SET last_used_at = \(now.startOfHour)
                WHERE application = \(application) AND id = \(session)
                    AND last_used_at < \(now.startOfHour)
                """)
        }
    }
}

extension Transaction {
    /// The grant for the digest of a secret; `nil` for an unknown one.
    fileprivate func grant(of digest: [UInt8]) throws -> Grant? {
        let token = try first(
            """
            SELECT id, application, scope, created_at, expires_at, revoked_at, name FROM tokens
            WHERE digest = \(digest)
            """
        ) { row in try Token(row) }
        return try token.flatMap(grant)
    }

    /// The grant of the token with an id.
    func grant(of id: Token.ID, in application: Application.ID) throws -> Grant? {
        try first(
            """
            SELECT id, application, scope, created_at, expires_at, revoked_at, name FROM tokens
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in try Token(row) }.flatMap(grant)
    }

    private func grant(of token: Token) throws -> Grant? {
        try application(token.application).map { application in
            Grant(application: application, token: token)
        }
    }

    /// The grant for a session; `nil` for an unknown one, and for one of a suspended user or application.
    ///
    /// A session that began while its user was suspended, or its sessions were ended, is not found either.
    fileprivate func sessionGrant(where condition: SQL) throws -> SessionGrant? {
        let found = try first(
            """
            SELECT \(raw: Session.columns), s.application FROM sessions s
            JOIN identities i ON i.application = s.application AND i.user_id = s.user_id
            WHERE \(condition) AND i.is_suspended = 0
                AND s.created_at > COALESCE(i.sessions_ended_at, 0)
            """
        ) { row in (session: try Session(row), application: try row.id(6) as Application.ID) }
        guard let found, let application = try application(found.application),
            !application.isSuspended
        else { return nil }
        return SessionGrant(application: application, session: found.session)
    }
}

/// What a secret grants, until it expires or is revoked.
protocol ExpiringGrant: Sendable {
    /// Whether it has not expired at that moment.
    func isValid(at now: Timestamp) -> Bool
}

extension Grant: ExpiringGrant {
    func isValid(at now: Timestamp) -> Bool { token.isValid(at: now) }
}

extension SessionGrant: ExpiringGrant {
    func isValid(at now: Timestamp) -> Bool { now < session.expiresAt }
}

/// A cache of grants, by the SHA-256 of their secrets.
///
/// An entry is used for one second, so a token or session that another process revoked is rejected within one second.
final class GrantCache<Granted: ExpiringGrant>: Sendable {
    /// How long an entry is used, in milliseconds.
    private let lifetime: Int64 = 1000
    /// The maximum number of entries. When it is reached, the cache is cleared, and each secret is looked up again.
    private let capacity = 10_000

    private struct Entry {
        let grant: Granted
        let readAt: Timestamp
    }

    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// The cached grant for the digest of a secret.
    func grant(for digest: [UInt8], at now: Timestamp) -> Granted? {
        entries.withLock { entries in
            guard let entry = entries[digest], entry.grant.isValid(at: now),
                (0..<lifetime).contains(now.milliseconds - entry.readAt.milliseconds)
            else { return nil }
            return entry.grant
        }
    }

    func store(_ grant: Granted, for digest: [UInt8], readAt moment: Timestamp) {
        entries.withLock { entries in
            if entries.count >= capacity { entries.removeAll() }
            entries[digest] = Entry(grant: grant, readAt: moment)
        }
    }

    /// Clears the cache after a change of tokens, sessions or applications by this process.
    func clear() {
        entries.withLock { entries in entries.removeAll() }
    }
}
