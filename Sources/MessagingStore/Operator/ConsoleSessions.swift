internal import Bytes
public import Messaging
import SQL

/// The account and the session that a cookie of the console belongs to.
public struct ConsoleGrant: Equatable, Sendable {
    /// What the session may be used for.
    public enum Account: Equatable, Sendable {
        /// The operator.
        case named(Operator)
        /// A valid token of an application that is not suspended.
        case token(Grant)
    }

    /// The session.
    public let session: ConsoleSession
    /// The account.
    public let account: Account

    /// What the account may do.
    public var role: Token.Scope {
        switch account {
        case .named(let known): known.role
        case .token(let grant): grant.token.scope
        }
    }
}

/// How long sessions of the console last, in milliseconds.
public struct ConsoleLifetimes: Equatable, Sendable {
    /// From the login.
    public let session: Int64
    /// From the last use.
    public let idle: Int64

    /// Both lifetimes.
    public init(session: Int64, idle: Int64) {
        self.session = session
        self.idle = idle
    }

    /// The most time between two uses that are stored.
    var noteInterval: Int64 { min(300_000, idle / 4) }
}

/// What logs in to the console.
public enum ConsoleCredential: Sendable {
    /// An operator, whose password has been checked: the name, and the stored form of the password.
    case password(String, stored: [UInt8])
    /// The token of a link.
    case link(String)
    /// A token of an application.
    case token(Grant)
}

/// A new session of the console with its token, which is shown only once.
public struct CreatedConsoleSession: Equatable, Sendable {
    /// The account and the session.
    public let grant: ConsoleGrant
    /// The token: 43 characters that need no escaping in a cookie. The store has only its SHA-256.
    public let token: String
}

extension MessagingStore {
    /// The id of the database as the cookies of the console name it: 32 hexadecimal digits.
    public func instanceID() async throws -> String {
        try await instanceSecret.value(from: self).map { byte in
            byte < 16 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16)
        }.joined()
    }

    /// Begins a session of the console.
    ///
    /// - Parameter former: The token of the session that the client had before, which ends.
    /// - Returns: `nil` for a link that is unknown, used or expired, and for an operator whose password was changed, or
    ///   that was removed, meanwhile.
    public func beginConsoleSession(
        by credential: ConsoleCredential, agent: String?, replacing former: String? = nil,
        _ lifetimes: ConsoleLifetimes, from origin: AuditOrigin
    ) async throws -> CreatedConsoleSession? {
        let token = Base64.encodeForURL(environment.randomBytes(32))
        let digest = environment.sha256(Array(token.utf8))
        let (id, now): (ConsoleSession.ID, Timestamp) = (environment.newID(), environment.now())
        let agent = agent.map { text in
            String(
                String.UnicodeScalarView(text.unicodeScalars.prefix(ConsoleSession.agentLimit)))
        }
        let end = Timestamp(milliseconds: now.milliseconds + lifetimes.session)
        let hash = environment.sha256
        if case .link(let text) = credential {
            // Guesses must not occupy the writer.
            let isKnown = try await database.read { transaction in
                try transaction.operatorOfLink(hash(Array(text.utf8)), at: now) != nil
            }
            guard isKnown else { return nil }
        }
        let isBegun = try await database.write { transaction -> Bool in
            let holder: ConsoleSession.Holder
            var isByLink = false
            switch credential {
            case .password(let name, let stored):
                let known = try transaction.first(
                    "SELECT password FROM operators WHERE name = \(name)"
                ) { row in try row.optionalBlob(0) }
                guard known == stored else { return false }
                holder = .named(name)
            case .link(let text):
                guard let name = try transaction.useLink(hash(Array(text.utf8)), at: now) else {
                    return false
                }
                holder = .named(name)
                isByLink = true
                try transaction.record(
                    .linkUsed, subject: name, from: origin.acting(as: name), at: now)
            case .token(let grant):
                holder = .token(grant.token.id, of: grant.application.id)
            }
            try transaction.execute("DELETE FROM console_sessions WHERE expires_at <= \(now)")
            try transaction.endOldestSessions(of: holder)
            try transaction.insert(
                ConsoleSession(
                    id: id, holder: holder, isByLink: isByLink, createdAt: now, expiresAt: end,
                    lastUsedAt: now, address: origin.address ?? "", agent: agent), digest)
            if let former = former.map({ token in hash(Array(token.utf8)) }),
                let ended = try transaction.first(
                    "DELETE FROM console_sessions WHERE digest = \(former) RETURNING id",
                    { row -> ConsoleSession.ID in try row.id(0) })
            {
                try transaction.record(
                    .sessionEnded, subject: ended.uuid, from: origin.acting(as: holder.name),
                    at: now)
            }
            try transaction.record(
                .operatorLoggedIn, subject: id.uuid, in: holder.application,
                from: origin.acting(as: holder.name), at: now)
            return true
        }
        if former != nil { consoleCache.clear() }
        guard isBegun, let grant = try await consoleGrant(ofToken: token, lifetimes) else {
            return nil
        }
        return CreatedConsoleSession(grant: grant, token: token)
    }

    /// Looks up the session with a token; `nil` for an unknown, ended, expired or idle one.
    ///
    /// A session that another process has ended is found for up to one second more.
    public func consoleGrant(
        ofToken token: String, _ lifetimes: ConsoleLifetimes
    ) async throws -> ConsoleGrant? {
        let digest = environment.sha256(Array(token.utf8))
        let now = environment.now()
        if let grant = consoleCache.grant(for: digest, at: now) { return grant }
        let found = try await database.read { transaction in
            try transaction.consoleGrant(of: digest)
        }
        let idle = { (session: ConsoleSession) in
            now.milliseconds - session.lastUsedAt.milliseconds
        }
        guard let found, found.isValid(at: now), idle(found.session) < lifetimes.idle else {
            return nil
        }
        if idle(found.session) >= lifetimes.noteInterval {
            try await database.write { transaction in
                try transaction.execute(
                    """
                    UPDATE console_sessions SET last_used_at = \(now)
                    WHERE digest = \(digest) AND last_used_at < \(now)
                    """)
            }
        }
        consoleCache.store(found, for: digest, readAt: now)
        return found
    }

    /// Whether a session exists now. It reads the database, so that it also knows what other processes have ended.
    public func hasConsoleSession(
        _ id: ConsoleSession.ID, _ lifetimes: ConsoleLifetimes
    ) async throws -> Bool {
        let now = environment.now()
        let found = try await database.read { transaction in
            try transaction.first("SELECT digest FROM console_sessions WHERE id = \(id)") { row in
                try row.blob(0)
            }.flatMap { digest in try transaction.consoleGrant(of: digest) }
        }
        guard let found, found.isValid(at: now) else { return false }
        return now.milliseconds - found.session.lastUsedAt.milliseconds < lifetimes.idle
    }

    /// The sessions of the console that have not ended, with the roles of their accounts, newest first.
    public func consoleSessions(_ lifetimes: ConsoleLifetimes) async throws -> [ConsoleGrant] {
        let now = environment.now()
        return try await database.read { transaction in
            let digests = try transaction.rows(
                """
                SELECT digest FROM console_sessions
                WHERE expires_at > \(now)
                    AND last_used_at > \(now.milliseconds - lifetimes.idle)
                ORDER BY expires_at DESC LIMIT 1000
                """
            ) { row in try row.blob(0) }
            return try digests.compactMap { digest in try transaction.consoleGrant(of: digest) }
                .filter { grant in grant.isValid(at: now) }
        }.sorted { left, right in left.session.createdAt > right.session.createdAt }
    }

    /// Ends a session of the console.
    ///
    /// - Parameter isLogout: Whether the account of the session ends it.
    /// - Returns: False if there is no such session.
    public func endConsoleSession(
        _ id: ConsoleSession.ID, isLogout: Bool, from origin: AuditOrigin
    ) async throws -> Bool {
        let now = environment.now()
        let isEnded = try await database.write { transaction in
            let ended = try transaction.rowsChanged(
                by: "DELETE FROM console_sessions WHERE id = \(id)")
            guard ended == 1 else { return false }
            try transaction.record(
                isLogout ? .operatorLoggedOut : .sessionEnded, subject: id.uuid, from: origin,
                at: now)
            return true
        }
        consoleCache.clear()
        return isEnded
    }
}

extension ConsoleSession.Holder {
    /// The name as events show it.
    public var name: String {
        switch self {
        case .named(let name): name
        case .token(let id, _): "token:\(id)"
        }
    }

    /// The application of a token; `nil` for an operator.
    public var application: Application.ID? {
        switch self {
        case .named: nil
        case .token(_, let application): application
        }
    }
}

extension AuditOrigin {
    /// The same request of another account.
    func acting(as actor: String) -> AuditOrigin {
        AuditOrigin(actor: actor, address: address, request: request)
    }
}

extension ConsoleGrant: ExpiringGrant {
    func isValid(at now: Timestamp) -> Bool {
        guard now < session.expiresAt else { return false }
        switch account {
        case .named: return true
        case .token(let grant): return grant.isValid(at: now) && !grant.application.isSuspended
        }
    }
}

extension Transaction {
    /// The session with a digest and its account; `nil` for an unknown session or account.
    fileprivate func consoleGrant(of digest: [UInt8]) throws -> ConsoleGrant? {
        let session = try first(
            """
            SELECT id, operator_name, application, token, by_link, created_at, expires_at,
                last_used_at, address, agent
            FROM console_sessions WHERE digest = \(digest)
            """
        ) { row in try ConsoleSession(row) }
        guard let session else { return nil }
        switch session.holder {
        case .named(let name):
            return try operatorNamed(name).map { known in
                ConsoleGrant(session: session, account: .named(known))
            }
        case .token(let token, let application):
            return try grant(of: token, in: application).map { grant in
                ConsoleGrant(session: session, account: .token(grant))
            }
        }
    }

    fileprivate func insert(_ session: ConsoleSession, _ digest: [UInt8]) throws {
        var (name, token, application): (String?, Token.ID?, Application.ID?) = (nil, nil, nil)
        switch session.holder {
        case .named(let text): name = text
        case .token(let id, let owner): (token, application) = (id, owner)
        }
        try execute(
            """
            INSERT INTO console_sessions (
                digest, id, operator_name, application, token, by_link, created_at, expires_at,
                last_used_at, address, agent
            ) VALUES (
                \(digest), \(session.id), \(name), \(application), \(token), \(session.isByLink),
                \(session.createdAt), \(session.expiresAt), \(session.lastUsedAt),
                \(session.address), \(session.agent)
            )
            """)
    }

    /// Ends the oldest sessions of an account, so that one more does not exceed ``ConsoleSession/limit``.
    fileprivate func endOldestSessions(of holder: ConsoleSession.Holder) throws {
        let account: SQL =
            switch holder {
            case .named(let name): "operator_name = \(name)"
            case .token(let id, _): "token = \(id)"
            }
        try execute(
            """
            DELETE FROM console_sessions WHERE digest IN (
                SELECT digest FROM console_sessions WHERE \(account)
                ORDER BY created_at DESC LIMIT 1000 OFFSET \(ConsoleSession.limit - 1)
            )
            """)
    }
}

extension ConsoleSession {
    /// Reads `id, operator_name, application, token, by_link, created_at, expires_at, last_used_at, address, agent`.
    fileprivate init(_ row: borrowing Row) throws {
        let holder: Holder =
            if let name = try row.optionalText(1) {
                .named(name)
            } else {
                .token(try row.id(3), of: try row.id(2))
            }
        self.init(
            id: try row.id(0), holder: holder, isByLink: try row.bool(4),
            createdAt: try row.timestamp(5), expiresAt: try row.timestamp(6),
            lastUsedAt: try row.timestamp(7), address: try row.text(8),
            agent: try row.optionalText(9))
    }
}
