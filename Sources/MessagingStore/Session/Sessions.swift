internal import Bytes
public import Messaging
import SQL

/// A new session with its token, which is shown only once.
public struct CreatedSession: Equatable, Sendable {
    /// The session.
    public let session: Session
    /// The token: 43 characters that need no escaping in a URL. The store has only its SHA-256.
    public let token: String
}

extension MessagingStore {
    /// Returns a new nonce for an identity token, valid for ten minutes and for one session.
    public func newNonce() async throws -> String { try await nonces.issue(self) }

    /// Begins a session by the claims of an identity token whose signature and times are valid (client-api §2.2,
    /// §2.3). The user and its identity are created or updated, and the nonce is used up, in the same transaction.
    ///
    /// - Parameter userAgent: The `User-Agent` of the request.
    /// - Throws: `IdentityTokenProblem`: `nonceNotFound`, `userSuspended`; `Rejection.notFound(.application)`; then
    ///   nothing is stored, and the nonce stays valid.
    public func beginSession(
        by claims: IdentityClaims, userAgent: String?, in application: Application.ID
    ) async throws -> CreatedSession {
        guard let nonce = try await nonces.valid(claims.nonce, self) else {
            throw IdentityTokenProblem.nonceNotFound
        }
        return try await beginSession(
            of: claims.user, profile: claims.profile, userAgent, lifetime: nil, in: application
        ) { context in try context.use(nonce) }
    }

    /// Begins a session without an identity token, to try things out (X14).
    ///
    /// - Parameter displayName: The new display name; `nil` leaves it as it is.
    /// - Throws: `IdentityTokenProblem.userSuspended`; `Rejection.notFound(.application)`.
    public func beginDevelopmentSession(
        of user: UserID, displayName: String? = nil, userAgent: String? = nil,
        in application: Application.ID
    ) async throws -> CreatedSession {
        try await beginSession(
            of: user, profile: displayName.map { name in [.set(.displayName, name)] } ?? [],
            userAgent, lifetime: Self.developmentLifetime, in: application
        ) { _ in }
    }

    /// The lifetime of sessions without an identity token, in seconds: a day.
    private static let developmentLifetime: Int64 = 86_400

    private func beginSession(
        of user: UserID, profile: [IdentityPatch], _ userAgent: String?, lifetime: Int64?,
        in application: Application.ID,
        _ check: @escaping @Sendable (MutationContext) throws -> Void
    ) async throws -> CreatedSession {
        let token = Base64.encodeForURL(environment.randomBytes(32))
        let digest = environment.sha256(Array(token.utf8))
        let id: Session.ID = environment.newID()
        let agent = userAgent.map { text in
            String(String.UnicodeScalarView(text.unicodeScalars.prefix(Session.userAgentLimit)))
        }
        let session = try await acting(as: .user(user)).change(in: application) { context in
            guard let known = try context.transaction.application(application) else {
                throw Rejection.notFound(.application)
            }
            try check(context)
            let before = try context.transaction.user(user, in: application)
            guard before?.isSuspended != true else { throw IdentityTokenProblem.userSuspended }
            try context.endOldestSessions(of: user)
            let seconds = lifetime ?? known.sessionLifetime ?? Session.defaultLifetime
            // Another process, whose clock may be ahead, may have ended the sessions of the user.
            let ended = before?.sessionsEndedAt?.milliseconds ?? 0
            let session = Session(
                id: id, user: user,
                createdAt: max(context.now, Timestamp(milliseconds: ended + 1)),
                expiresAt: Timestamp(milliseconds: context.now.milliseconds + seconds * 1000),
                lastUsedAt: context.now.startOfHour, userAgent: agent)
            try context.record(
                .sessionCreated(SessionCreated(session: session, digest: digest)))
            let identity = before?.knownIdentity ?? Identity(userID: user)
            if let event = try identity.patching(profile) { try context.record(event) }
            return session
        }
        return CreatedSession(session: session, token: token)
    }

    /// The sessions of a user that have neither ended nor expired, newest first.
    ///
    /// - Throws: `Rejection.notFound(.user)`.
    public func sessions(
        of user: UserID, in application: Application.ID
    ) async throws -> [Session] {
        let now = environment.now()
        return try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            return try transaction.rows(
                """
                SELECT \(raw: Session.columns) FROM sessions s
                WHERE s.application = \(application) AND s.user_id = \(user)
                    AND s.expires_at > \(now)
                ORDER BY s.created_at DESC, s.id DESC
                """
            ) { row in try Session(row) }
        }
    }

    /// One session of a user that has neither ended nor expired.
    ///
    /// - Throws: `Rejection.notFound` of the user or the session.
    public func session(
        _ id: Session.ID, of user: UserID, in application: Application.ID
    ) async throws -> Session {
        guard
            let session = try await sessions(of: user, in: application).first(where: { $0.id == id }
            )
        else { throw Rejection.notFound(.session) }
        return session
    }

    /// Ends one session of a user (R92).
    ///
    /// - Throws: `Rejection.notFound` of the user or the session.
    public func endSession(
        _ id: Session.ID, of user: UserID, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            let known = try context.transaction.first(
                """
                SELECT 1 FROM sessions
                WHERE application = \(application) AND id = \(id) AND user_id = \(user)
                """
            ) { _ in true }
            guard known != nil else { throw Rejection.notFound(.session) }
            try context.record(.sessionEnded(SessionEnded(session: id, user: user)))
        }
        sessionCache.clear()
    }

    /// Ends the session with a token; an unknown token changes nothing (client-api §2.5).
    ///
    /// - Returns: The application of the session; `nil` for an unknown token.
    @discardableResult
    public func endSession(
        withToken token: some Sequence<UInt8>
    ) async throws -> Application.ID? {
        let digest = environment.sha256(Array(token))
        let found = try await database.read { transaction in
            try transaction.first(
                "SELECT application, id, user_id FROM sessions WHERE digest = \(digest)"
            ) { row in
                (
                    application: try row.id(0) as Application.ID, id: try row.id(1) as Session.ID,
                    user: try row.user(2)
                )
            }
        }
        guard let found else { return nil }
        do {
            try await acting(as: .user(found.user)).endSession(
                found.id, of: found.user, in: found.application)
        } catch Rejection.notFound {
            // Another request has ended it meanwhile.
        }
        return found.application
    }
}

extension MutationContext {
    /// Ends the oldest sessions of a user, so that one more does not exceed ``Session/limit``.
    fileprivate func endOldestSessions(of user: UserID) throws {
        let ended: [Session.ID] = try transaction.rows(
            """
            SELECT id FROM sessions
            WHERE application = \(application) AND user_id = \(user) AND expires_at > \(now)
            ORDER BY created_at DESC, id DESC LIMIT 10 OFFSET \(Session.limit - 1)
            """
        ) { row in try row.id(0) }
        for id in ended { try record(.sessionEnded(SessionEnded(session: id, user: user))) }
    }
}

extension Timestamp {
    /// The start of its hour, UTC.
    var startOfHour: Timestamp { Timestamp(milliseconds: milliseconds - milliseconds % 3_600_000) }
}

extension Session {
    /// The columns that ``init(_:)`` reads, in this order, from the table with the alias `s`.
    static let columns: StaticString =
        "s.id, s.user_id, s.created_at, s.expires_at, s.last_used_at, s.user_agent"

    init(_ row: borrowing Row) throws {
        self.init(
            id: try row.id(0), user: try row.user(1), createdAt: try row.timestamp(2),
            expiresAt: try row.timestamp(3), lastUsedAt: try row.timestamp(4),
            userAgent: try row.optionalText(5))
    }
}
