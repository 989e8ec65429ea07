public import Messaging
import SQL

extension MessagingStore {
    /// A user that has an identity, either provided by the application or created when others named the user.
    ///
    /// - Throws: `Rejection.notFound(.identity)`, also after its deletion.
    public func identity(of user: UserID, in application: Application.ID) async throws -> User {
        try await database.read { transaction in
            try transaction.identifiedUser(user, in: application)
        }
    }
}

extension MessagingStore {
    /// Creates the identity of a user (platform-api §5.7).
    ///
    /// - Returns: `created`, also if others had named the user before; `idInUse` with the identity that was
    ///   already provided, which stays unchanged.
    public func createIdentity(
        _ identity: Identity, in application: Application.ID
    ) async throws -> CreationOutcome<User> {
        try await change(in: application) { context in
            if let user = try context.transaction.user(identity.userID, in: application),
                user.identityStatus == .provided
            {
                return .idInUse(user)
            }
            return .created(try context.provide(identity))
        }
    }

    /// Replaces the identity of a user; the same identity again changes nothing.
    ///
    /// - Parameter demand: The required version of the identity (X4).
    /// - Throws: `VersionMismatch<User>`; `Rejection.notFound(.identity)` when a version is required and
    ///   there is no identity.
    @discardableResult
    public func replaceIdentity(
        _ identity: Identity, if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws -> User {
        try await change(in: application) { context in
            let user = try context.transaction.user(identity.userID, in: application)
            guard let user, user.identityStatus != .unknown else {
                guard demand.allowsCreation else { throw Rejection.notFound(.identity) }
                return try context.provide(identity)
            }
            try demand.check(user.identityVersion) { user }
            guard user.identityStatus != .provided || user.identity != identity else { return user }
            return try context.provide(identity)
        }
    }
}

extension MutationContext {
    /// Records an identity, and returns the user with it.
    fileprivate func provide(_ identity: Identity) throws -> User {
        try record(.identityReplaced(IdentityReplaced(identity: identity)))
        return try transaction.identifiedUser(identity.userID, in: application)
    }
}

extension MessagingStore {
    /// Changes members of an identity, all or none. If nothing changes, no event is recorded.
    ///
    /// - Parameter demand: The required version of the identity (X4).
    /// - Throws: `Rejection`: `notFound(.identity)`; `invalid("metadata")` above 16 keys (R49);
    ///   `VersionMismatch<User>`.
    @discardableResult
    public func patchIdentity(
        of user: UserID, _ patches: [IdentityPatch], if demand: VersionPrecondition = .any,
        in application: Application.ID
    ) async throws -> User {
        try await change(in: application) { context in
            let before = try context.transaction.identifiedUser(user, in: application)
            try demand.check(before.identityVersion) { before }
            guard let event = try before.identity.patching(patches) else { return before }
            try context.record(event)
            return try context.transaction.identifiedUser(user, in: application)
        }
    }
}

extension MessagingStore {
    /// Deletes the identity of a user. The user stays, and is shown without names.
    ///
    /// - Parameter demand: The required version of the identity (X4).
    /// - Throws: `Rejection.notFound(.identity)`, also after its deletion; `VersionMismatch<User>`.
    public func deleteIdentity(
        of user: UserID, if demand: VersionPrecondition = .any, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            let before = try context.transaction.identifiedUser(user, in: application)
            try demand.check(before.identityVersion) { before }
            try context.record(.identityDeleted(IdentityDeleted(user: user)))
        }
    }
}

extension Transaction {
    /// The members of users' identities that other objects show.
    ///
    /// - Returns: The known users, by id.
    func identities(
        of users: Set<UserID>, in application: Application.ID
    ) throws -> [UserID: BasicIdentity] {
        let chunks = try Array(users).chunks(of: 4096).map { chunk in
            try queryIdentities(of: Set(chunk), in: application)
        }
        let found = try chunks.flatMap { chunk in try chunk.rows() }
        return Dictionary(grouping: found, by: \.userID).compactMapValues(\.first)
    }

    /// Queries the identities of the known users among these, up to 4,096, without waiting for the rows.
    func queryIdentities(
        of users: Set<UserID>, in application: Application.ID
    ) throws -> DeferredRows<BasicIdentity> {
        try query(
            """
            SELECT \(raw: BasicIdentity.columns) FROM identities i
            WHERE i.application = \(application)
                AND i.user_id \(in: users)
            """, reading: users.map { user in .user(user, in: application) }
        ) { row in try BasicIdentity(row) }
    }

    /// The members of users' identities that other objects show, without a query if all of the users were read before
    /// in this commit.
    func prefetchedIdentities(
        of users: Set<UserID>, in application: Application.ID
    ) throws -> [UserID: BasicIdentity] {
        var (found, unread): ([UserID: BasicIdentity], Set<UserID>) = ([:], [])
        for user in users {
            if let read = try cachedRows(BasicIdentity.cacheKey(of: user, in: application)) {
                found[user] = read.first
            } else {
                unread.insert(user)
            }
        }
        let read = try identities(of: unread, in: application)
        for user in unread {
            found[user] = read[user]
            cache(read[user], for: BasicIdentity.cacheKey(of: user, in: application))
        }
        return found
    }

    /// Queries the identities of users ahead, for ``prefetchedIdentities(of:in:)``.
    func prefetchIdentities(of users: [UserID], in application: Application.ID) {
        // More are read when they are needed, in several statements.
        guard users.count <= 256 else { return }
        for user in users {
            prefetch(user, by: CommitGroup("identities", in: application.bytes)) {
                transaction, users in
                let names = users.map(\.text)
                try transaction.prefetchIdentities(
                    "SELECT column1 AS user_id FROM \(table: "named", of: [.texts(names)])",
                    in: application)
            }
        }
    }

    /// Queries the identities of the current participants of a conversation ahead, unless it is wide, for
    /// ``prefetchedIdentities(of:in:)``.
    func prefetchIdentities(
        in conversation: Conversation.ID, in application: Application.ID
    ) {
        prefetch(conversation, by: CommitGroup("identities in", in: application.bytes)) {
            transaction, conversations in
            try transaction.prefetchIdentities(
                """
                SELECT DISTINCT p.user_id FROM conversations c
                JOIN participants p ON p.application = c.application AND p.conversation = c.id
                WHERE c.application = \(application) AND c.id \(in: conversations)
                    AND c.is_wide = 0 AND p.left_after IS NULL
                """, in: application)
        }
    }

    /// - Parameter users: A `SELECT` of a column `user_id`.
    private func prefetchIdentities(_ users: SQL, in application: Application.ID) throws {
        try prefetch(
            """
            SELECT \(raw: BasicIdentity.columns), u.user_id FROM (\(users)) AS u
            LEFT JOIN identities i ON i.application = \(application) AND i.user_id = u.user_id
            """
        ) { row in
            (
                BasicIdentity.cacheKey(of: try row.user(4), in: application),
                try row.optionalUser(0) == nil ? nil : try BasicIdentity(row)
            )
        }
    }

    /// Queries the members of a user's identity that other objects show; no row for an unknown user.
    func queryIdentity(
        of user: UserID, in application: Application.ID
    ) throws -> DeferredRows<BasicIdentity> {
        try query(
            """
            SELECT \(raw: BasicIdentity.columns) FROM identities i
            WHERE i.application = \(application) AND i.user_id = \(user)
            """,
            as: BasicIdentity.cacheKey(of: user, in: application)
        ) { row in try BasicIdentity(row) }
    }

    /// Checks that a user is known, for a read on their behalf (platform-api §3.9).
    ///
    /// - Throws: `Rejection.notFound(.user)`.
    func requireUser(_ user: UserID, in application: Application.ID) throws {
        guard try queryIdentity(of: user, in: application).first() != nil else {
            throw Rejection.notFound(.user)
        }
    }

    /// Whether a user has an identity, provided or created when others named the user (ruling 10).
    func hasIdentity(_ user: UserID, in application: Application.ID) throws -> Bool {
        try first(
            """
            SELECT 1 FROM identities
            WHERE application = \(application) AND user_id = \(user)
                AND status <> \(User.IdentityStatus.unknown.rawValue)
            """
        ) { row in try row.int64(0) } != nil
    }

    /// The number of conversations in a user's list, and whether wide ones are among them; `nil` for an unknown user.
    func conversationCount(
        of user: UserID, in application: Application.ID
    ) throws -> (total: Int64, hasWide: Bool)? {
        try first(
            """
            SELECT conversation_count, (
                SELECT 1 FROM participants
                WHERE application = \(application) AND user_id = \(user) AND is_wide = 1
                    AND state = 'shown'
                LIMIT 1
            ) FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in (try row.int64(0), try !row.isNull(1)) }
    }
}

extension [UserID: BasicIdentity] {
    /// The members of a user's identity that other objects show; only the id for an unknown user.
    func identity(of user: UserID) -> BasicIdentity {
        self[user] ?? BasicIdentity(userID: user)
    }
}

extension BasicIdentity {
    /// The cache key of a user's identity.
    static func cacheKey(
        of user: UserID, in application: Application.ID
    ) -> RowCacheKey<BasicIdentity> {
        RowCacheKey(of: [.user(user, in: application)])
    }

    /// The columns that ``init(_:)`` reads, in this order, from the table with the alias `i`.
    static let columns: StaticString = "i.user_id, i.display_name, i.avatar_url, i.kind"

    /// - Parameter first: The index of the first column.
    init(_ row: borrowing Row, from first: Int = 0) throws {
        guard let kind = Identity.Kind(rawValue: try row.text(.index(first + 3))) else {
            throw StoreFault.unreadable("identities.kind")
        }
        self.init(
            userID: try row.user(.index(first)),
            displayName: try row.optionalText(.index(first + 1)),
            avatarURL: try row.optionalText(.index(first + 2)), kind: kind)
    }
}
