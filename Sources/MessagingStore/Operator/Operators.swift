internal import Bytes
public import Messaging
import SQL

extension MessagingStore {
    /// All operators by name.
    public func operators() async throws -> [Operator] {
        try await database.read { transaction in
            try transaction.rows(
                "SELECT \(raw: Operator.columns) FROM operators ORDER BY name"
            ) { row in try Operator(row) }
        }
    }

    /// The operator with a name, and the stored form of its password.
    public func operatorPassword(
        of name: String
    ) async throws -> (operator: Operator, password: [UInt8]?)? {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT \(raw: Operator.columns), password FROM operators WHERE name = \(name)
                """
            ) { row in (try Operator(row), try row.optionalBlob(4)) }
        }
    }

    /// Sets the password of an operator, creates the operator if there is none with this name, and ends its sessions.
    ///
    /// - Parameters:
    ///   - password: The stored form of its hash.
    ///   - role: `nil` leaves the role as it is, and creates an operator with the role `admin`.
    public func setPassword(
        _ password: [UInt8], of name: String, role: Token.Scope? = nil, from origin: AuditOrigin
    ) async throws {
        let now = environment.now()
        try await database.write { transaction in
            try transaction.createOperator(name, role ?? .admin, at: now)
            if let role {
                try transaction.execute(
                    "UPDATE operators SET role = \(role.rawValue) WHERE name = \(name)")
            }
            try transaction.setPassword(password, of: name, keeping: nil, from: origin, at: now)
        }
        consoleCache.clear()
    }

    /// Replaces the password of the operator of a session, and ends the operator's other sessions.
    ///
    /// - Parameters:
    ///   - password: The stored form of its hash.
    ///   - former: The stored form of the password that was checked; `nil` for a session that began with a link.
    /// - Returns: False, and nothing changes, if the session has ended, the operator was removed, or the password was
    ///   changed meanwhile.
    public func replacePassword(
        _ password: [UInt8], of name: String, in session: ConsoleSession.ID,
        replacing former: [UInt8]?, from origin: AuditOrigin
    ) async throws -> Bool {
        let now = environment.now()
        let isReplaced = try await database.write { transaction in
            let known = try transaction.first(
                """
                SELECT o.password, s.by_link FROM console_sessions s
                JOIN operators o ON o.name = s.operator_name
                WHERE s.id = \(session) AND s.operator_name = \(name)
                """
            ) { row in (password: try row.optionalBlob(0), isByLink: try row.bool(1)) }
            guard let known, former.map({ $0 == known.password }) ?? known.isByLink else {
                return false
            }
            try transaction.setPassword(password, of: name, keeping: session, from: origin, at: now)
            return true
        }
        consoleCache.clear()
        return isReplaced
    }

    /// Removes an operator, whose sessions and links end.
    ///
    /// - Returns: False if there is no operator with this name.
    public func removeOperator(
        _ name: String, from origin: AuditOrigin
    ) async throws -> Bool {
        let now = environment.now()
        let isRemoved = try await database.write { transaction in
            let removed = try transaction.rowsChanged(
                by: "DELETE FROM operators WHERE name = \(name)")
            guard removed > 0 else { return false }
            try transaction.execute("DELETE FROM console_links WHERE operator_name = \(name)")
            try transaction.endSessions(of: name, keeping: nil)
            try transaction.record(.operatorRemoved, subject: name, from: origin, at: now)
            return true
        }
        consoleCache.clear()
        return isRemoved
    }

    /// Creates a link that logs in an operator once. An operator without this name is created when it is used.
    ///
    /// - Parameter lifetime: In milliseconds.
    /// - Returns: The token of the link: 43 characters that need no escaping in a URL.
    public func createLink(
        for name: String, lifetime: Int64, from origin: AuditOrigin
    ) async throws -> String {
        let token = Base64.encodeForURL(environment.randomBytes(32))
        let digest = environment.sha256(Array(token.utf8))
        let now = environment.now()
        try await database.write { transaction in
            let end = Timestamp(milliseconds: now.milliseconds + lifetime)
            try transaction.execute("DELETE FROM console_links WHERE expires_at <= \(now)")
            try transaction.execute(
                """
                INSERT INTO console_links (digest, operator_name, expires_at)
                VALUES (\(digest), \(name), \(end))
                """)
            try transaction.record(.linkCreated, subject: name, from: origin, at: now)
        }
        return token
    }
}

extension Transaction {
    /// Creates an operator without a password, unless there is one with this name.
    fileprivate func createOperator(
        _ name: String, _ role: Token.Scope, at now: Timestamp
    ) throws {
        try execute(
            """
            INSERT INTO operators (name, role, password, created_at)
            VALUES (\(name), \(role.rawValue), NULL, \(now)) ON CONFLICT (name) DO NOTHING
            """)
    }

    /// The operator that a link logs in; `nil` for an unknown, used or expired link.
    func operatorOfLink(_ digest: [UInt8], at now: Timestamp) throws -> String? {
        try first(
            """
            SELECT operator_name FROM console_links WHERE digest = \(digest) AND expires_at > \(now)
            """
        ) { row in try row.text(0) }
    }

    /// Uses up a link.
    ///
    /// - Returns: The operator that it logs in; `nil` for an unknown, used or expired link.
    func useLink(_ digest: [UInt8], at now: Timestamp) throws -> String? {
        let name = try operatorOfLink(digest, at: now)
        // The deletion decides which of two requests in different processes has used it.
        guard let name,
            try rowsChanged(by: "DELETE FROM console_links WHERE digest = \(digest)") == 1
        else { return nil }
        try createOperator(name, .admin, at: now)
        return name
    }

    /// Sets the password of an operator that exists, and ends its sessions but one.
    fileprivate func setPassword(
        _ password: [UInt8], of name: String, keeping session: ConsoleSession.ID?,
        from origin: AuditOrigin, at now: Timestamp
    ) throws {
        try execute("UPDATE operators SET password = \(password) WHERE name = \(name)")
        // A link that was created before must not replace the new password.
        try execute("DELETE FROM console_links WHERE operator_name = \(name)")
        try endSessions(of: name, keeping: session)
        // From now on the current password is needed to set another.
        try execute("UPDATE console_sessions SET by_link = 0 WHERE operator_name = \(name)")
        try record(.operatorPasswordSet, subject: name, from: origin, at: now)
    }

    fileprivate func endSessions(of name: String, keeping session: ConsoleSession.ID?) throws {
        if let session {
            try execute(
                "DELETE FROM console_sessions WHERE operator_name = \(name) AND id <> \(session)")
        } else {
            try execute("DELETE FROM console_sessions WHERE operator_name = \(name)")
        }
    }
}

extension Transaction {
    /// The operator with a name.
    func operatorNamed(_ name: String) throws -> Operator? {
        try first("SELECT \(raw: Operator.columns) FROM operators WHERE name = \(name)") { row in
            try Operator(row)
        }
    }
}

extension Operator {
    /// The columns that ``init(_:)`` reads, in this order.
    fileprivate static let columns: StaticString =
        "name, role, CASE WHEN password IS NULL THEN 0 ELSE 1 END, created_at"

    fileprivate init(_ row: borrowing Row) throws {
        guard let role = Token.Scope(rawValue: try row.text(1)) else {
            throw StoreFault.unreadable("operators.role")
        }
        self.init(
            name: try row.text(0), role: role, hasPassword: try row.int64(2) == 1,
            createdAt: try row.timestamp(3))
    }
}
