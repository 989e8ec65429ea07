public import Messaging
import SQL

extension MessagingStore {
    /// The stored state of a user, with or without an identity.
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown user.
    public func user(_ id: UserID, in application: Application.ID) async throws -> User {
        try await database.read { transaction in
            guard let user = try transaction.user(id, in: application) else {
                throw Rejection.notFound(.user)
            }
            return user
        }
    }
}

extension MessagingStore {
    /// Changes a user, all or nothing; an unknown user is created (platform-api §3.9).
    ///
    /// - Parameter patches: Operations in order; if nothing changes, no event is recorded.
    /// - Throws: `Rejection.invalid("blocks")` for a block list that becomes too long.
    public func patchUser(
        _ user: UserID, _ patches: [UserPatch], in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            let (transaction, now) = (context.transaction, context.now)
            let isSuspended = try transaction.user(user, in: application)?.isSuspended ?? false
            let blocks = try transaction.blocks(
                of: user, among: patches.keepsOtherBlocks ? patches.flatMap(\.named) : nil,
                in: application)
            let events = [
                patches.changing(suspensionOf: user, from: isSuspended, at: now),
                try patches.changing(
                    blocksOf: user, from: blocks,
                    of: try transaction.blockCount(of: user, in: application), at: now),
            ]
            for event in events.compactMap(\.self) { try context.record(event) }
        }
        sessionCache.clear()
    }
}

extension MessagingStore {
    /// Ends all sessions of a user that have begun so far (R92).
    ///
    /// - Throws: `Rejection.notFound(.user)` for an unknown user (ruling 19).
    public func endSessions(of user: UserID, in application: Application.ID) async throws {
        try await change(in: application) { context in
            try context.transaction.requireUser(user, in: application)
            try context.record(.sessionsEnded(SessionsEnded(user: user, at: context.now)))
        }
        sessionCache.clear()
    }
}

extension Transaction {
    /// A user; `nil` for an unknown one.
    func user(_ id: UserID, in application: Application.ID) throws -> User? {
        try first(
            """
            SELECT \(raw: User.columns) FROM identities i
            WHERE i.application = \(application) AND i.user_id = \(id)
            """
        ) { row in try User(row) }
    }

    /// The known users among the given ids, in one statement.
    func users(_ ids: Set<UserID>, in application: Application.ID) throws -> [User] {
        try Array(ids).chunks(of: 4096).flatMap { chunk in
            try rows(
                """
                SELECT \(raw: User.columns) FROM identities i
                WHERE i.application = \(application) AND i.user_id \(in: chunk)
                """
            ) { row in try User(row) }
        }
    }

    /// A user that has an identity.
    ///
    /// - Throws: `Rejection.notFound(.identity)`.
    func identifiedUser(_ id: UserID, in application: Application.ID) throws -> User {
        guard let user = try user(id, in: application), user.identityStatus != .unknown else {
            throw Rejection.notFound(.identity)
        }
        return user
    }
}

extension User {
    /// The columns that ``init(_:)`` reads, in this order, from the table named `i`.
    static let columns: StaticString =
        """
        i.user_id, i.kind, i.status, i.identity_version, i.is_suspended, i.sessions_ended_at,
            i.metadata, i.display_name, i.avatar_url, i.first_name, i.last_name, i.phone_number,
            i.email_address, i.public_key
        """
    /// The number of ``columns``; the index of a column that a query adds.
    static let columnCount = 14

    init(_ row: borrowing Row) throws {
        guard let kind = Identity.Kind(rawValue: try row.text(1)),
            let status = IdentityStatus(rawValue: try row.int64(2))
        else { throw StoreFault.unreadable("identities.kind or status") }
        var identity = Identity(userID: try row.user(0), kind: kind)
        if let metadata = try row.optionalBlob(6) {
            var reader = ByteReader(metadata)
            identity.metadata = try reader.texts()
            try reader.finish()
        }
        identity[.displayName] = try row.optionalText(7)
        identity[.avatarURL] = try row.optionalText(8)
        identity[.firstName] = try row.optionalText(9)
        identity[.lastName] = try row.optionalText(10)
        identity[.phoneNumber] = try row.optionalText(11)
        identity[.emailAddress] = try row.optionalText(12)
        identity[.publicKey] = try row.optionalText(13)
        self.init(
            identity: identity, identityStatus: status, identityVersion: try row.int64(3),
            isSuspended: try row.bool(4), sessionsEndedAt: try row.optionalTimestamp(5))
    }
}

extension Projection {
    func setBadge(of user: UserID, to count: Int64) throws {
        try transaction.execute(
            """
            UPDATE identities SET external_unread_count = \(count)
            WHERE application = \(application) AND user_id = \(user)
            """)
    }

    /// Suspends or resumes a user. Resuming does not restore the sessions that the suspension ended (platform-api
    /// §5.11).
    func suspend(_ user: UserID, _ isSuspended: Bool, at moment: Timestamp) throws {
        try createUsers([user])
        try transaction.execute(
            """
            UPDATE identities SET is_suspended = \(isSuspended)
            WHERE application = \(application) AND user_id = \(user)
            """)
        if isSuspended { try endSessions(of: user, at: moment) }
    }

    /// Ends all sessions of a user; those that begin later are later than the moment by their `created_at` as well.
    func endSessions(of user: UserID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE identities SET sessions_ended_at = \(moment)
            WHERE application = \(application) AND user_id = \(user)
            """)
        try transaction.execute(
            """
            DELETE FROM sessions
            WHERE application = \(application) AND user_id = \(user)
            """)
        try removeDevices(of: user)
    }

    func setSessionLifetime(_ seconds: Int64) throws {
        try transaction.execute(
            """
            UPDATE applications SET session_lifetime = \(seconds)
            WHERE application = \(application)
            """)
    }
}
