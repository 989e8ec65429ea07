import Messaging
import SQL

extension Projection {
    /// Stores an identity that the application provides; creates the user if necessary.
    func provide(_ identity: Identity) throws {
        try saveIdentity(of: identity.userID)
        let isNew = try !create([identity.userID], as: .provided).isEmpty
        try transaction.execute(
            """
            UPDATE identities SET
                display_name = \(identity[.displayName]), avatar_url = \(identity[.avatarURL]),
                kind = \(identity.kind.rawValue), status = \(User.IdentityStatus.provided.rawValue),
                first_name = \(identity[.firstName]), last_name = \(identity[.lastName]),
                phone_number = \(identity[.phoneNumber]),
                email_address = \(identity[.emailAddress]), metadata = \(identity.metadataColumn),
                public_key = \(identity[.publicKey]),
                identity_version = identity_version + \(isNew ? 0 : 1),
                identity_event = \(position)
            WHERE application = \(application) AND user_id = \(identity.userID)
            """)
    }

    func apply(_ change: IdentityPatched) throws {
        let before = try transaction.user(change.user, in: application)?.identity
        try provide((before ?? Identity(userID: change.user)).patched(by: change.patches))
    }

    /// Deletes an identity. The user stays, and objects show them without names (platform-api §5.7).
    func deleteIdentity(of user: UserID) throws {
        try provide(Identity(userID: user))
        try transaction.execute(
            """
            UPDATE identities SET status = \(User.IdentityStatus.unknown.rawValue)
            WHERE application = \(application) AND user_id = \(user)
            """)
    }

    /// Creates the users that do not exist yet (R90, platform-api §3.9).
    ///
    /// - Returns: The new users.
    @discardableResult
    func createUsers(_ users: [UserID]) throws -> Set<UserID> { try create(users, as: .unknown) }

    /// Creates a user that does not exist yet, with an identity: a followed user, because the list of followed users
    /// shows identities (ruling 10), or one that begins a session.
    func createNamedUser(_ user: UserID) throws {
        try name([user], inConversations: 0)
    }

    /// Creates the participants of a conversation that do not exist yet, with identities (R90).
    ///
    /// - Parameters:
    ///   - isShown: Whether they see the conversation, which is then counted in their lists.
    ///   - count: The number of users that each new one follows.
    /// - Returns: The new users.
    @discardableResult
    func createParticipants(
        _ users: [UserID], isShown: Bool, following count: Int = 0
    ) throws -> Set<UserID> {
        try name(users, inConversations: isShown ? 1 : 0, following: count)
    }

    /// Gives users that others name an identity without names, if they have none, and adds to the number of
    /// conversations in their lists.
    ///
    /// - Returns: The new users.
    @discardableResult
    private func name(
        _ users: [UserID], inConversations count: Int64, following followed: Int = 0
    ) throws -> Set<UserID> {
        let new = try create(
            users, as: .named, inConversations: count, following: Int64(followed))
        let known = users.filter { user in !new.contains(user) }
        add(known, inConversations: count, areNamed: true)
        return new
    }

    /// Adds to the number of conversations in each user's list.
    func count(shown users: [UserID], _ change: Int64) {
        add(users, inConversations: change, areNamed: false)
    }

    private func add(_ users: [UserID], inConversations count: Int64, areNamed: Bool) {
        guard !users.isEmpty else { return }
        let row = RowCacheKey<UserChanges>(of: application.bytes, in: "identities")
        if let changes = transaction.deferred(row) {
            return changes.add(users, inConversations: count, areNamed: areNamed)
        }
        let changes = UserChanges()
        changes.add(users, inConversations: count, areNamed: areNamed)
        transaction.deferWrites(changes, of: row) { [application] in
            changes.statements(in: application)
        }
    }

    /// Creates the users that an imported record refers to. Known users keep their status, which their own
    /// record has set.
    func createImportedUsers(_ users: [UserID]) throws { try create(users, as: .named) }

    /// Inserts an imported user that does not exist here.
    func insert(_ archived: ArchivedUser) {
        let user = archived.user
        saveAbsence(of: user.id)
        // Only a provided identity has names.
        let isProvided = user.identityStatus == .provided
        let identity = isProvided ? user.identity : Identity(userID: user.id)
        let metadata = isProvided ? identity.metadataColumn : nil
        transaction.add(
            """
            (\(application), \(user.id), \(identity[.displayName]), \(identity[.avatarURL]),
            \(user.identity.kind.rawValue), \(0), \(user.identityStatus.rawValue),
            \(user.identityVersion), \(user.isSuspended), \(user.sessionsEndedAt),
            \(archived.externalUnreadCount), \(identity[.firstName]), \(identity[.lastName]),
            \(identity[.phoneNumber]), \(identity[.emailAddress]), \(metadata),
            \(identity[.publicKey]), \(archived.createdAt ?? moment), \(position))
            """,
            to: "identities", keys: application.bytes + Array(user.id.text.utf8),
            by: Self.importedIdentities)
        addToCounts(users: 1)
    }

    private static let importedIdentities = Insertion(
        """
        INSERT INTO identities (
            application, user_id, display_name, avatar_url, kind, conversation_count, status,
            identity_version, is_suspended, sessions_ended_at, external_unread_count, first_name,
            last_name, phone_number, email_address, metadata, public_key, created_at, identity_event
        ) VALUES
        """)

    /// Creates the recipients that do not exist yet (platform-api §3.9), and counts their announcements.
    ///
    /// - Parameter users: Distinct users, up to 10,000.
    func createRecipients(_ users: [UserID], ofAnnouncements count: Int64) throws {
        try create(users, as: .named)
        guard count != 0 else { return }
        for chunk in users.chunks(of: Self.usersAtOnce) {
            try transaction.execute(
                """
                UPDATE identities SET announcement_count = announcement_count + \(count)
                WHERE application = \(application) AND user_id \(in: chunk)
                """)
        }
    }

    /// Inserts the users that do not exist yet, created at the moment of the event, and counts them.
    ///
    /// Apart from ``insert(_:)``, no other code inserts rows into `identities`.
    ///
    /// - Parameters:
    ///   - count: The number of conversations in their lists.
    ///   - followed: The number of users that they follow.
    /// - Returns: The new users.
    @discardableResult
    private func create(
        _ users: [UserID], as status: User.IdentityStatus, inConversations count: Int64 = 0,
        following followed: Int64 = 0
    ) throws -> Set<UserID> {
        var created: Set<UserID> = []
        for chunk in Set(users).sorted().chunks(of: Self.usersAtOnce) {
            let known = try transaction.prefetchedIdentities(of: Set(chunk), in: application)
            let new = chunk.filter { user in known[user] == nil }
            try insert(new, as: status, inConversations: count, following: followed)
            created.formUnion(new)
        }
        if !created.isEmpty { addToCounts(users: Int64(created.count)) }
        return created
    }

    private func insert(
        _ users: [UserID], as status: User.IdentityStatus, inConversations count: Int64,
        following followed: Int64
    ) throws {
        guard users.count > Self.fewUsers else {
            for user in users {
                transaction.add(
                    """
                    (\(application), \(user), \(Identity.Kind.user.rawValue), \(count),
                    \(status.rawValue), \(followed), \(moment))
                    """,
                    to: "identities", keys: application.bytes + Array(user.text.utf8),
                    by: Self.identities)
                transaction.cache(
                    BasicIdentity(userID: user),
                    for: BasicIdentity.cacheKey(of: user, in: application))
            }
            return
        }
        for chunk in users.powerOfTwoChunks(upTo: Self.usersAtOnce) {
            try transaction.execute(
                """
                \(Self.identityColumns)
                SELECT \(application), named.column1, \(Identity.Kind.user.rawValue), \(count),
                    \(status.rawValue), \(followed), \(moment)
                FROM \(table: "named", of: [.texts(chunk.map(\.text))])
                """, changing: chunk.map { user in .user(user, in: application) })
        }
    }

    private static let identities = Insertion("\(identityColumns) VALUES")

    private static let identityColumns: SQL =
        """
        INSERT INTO identities (
            application, user_id, kind, conversation_count, status, following_count, created_at
        )
        """

    /// The maximum number of users in one statement.
    private static let usersAtOnce = 1024

    /// Up to this number of users, all of a conversation that is not wide, rows are inserted with those of other changes
    /// of the commit; more have separate statements.
    static let fewUsers = 100
}

/// By how much the changes of a commit change the number of known users' conversations, and which of the users they name.
private final class UserChanges {
    private var changes: [UserID: (count: Int64, isNamed: Bool)] = [:]

    func add(_ users: [UserID], inConversations count: Int64, areNamed: Bool) {
        for user in users {
            let before = changes[user] ?? (0, false)
            changes[user] = (before.count + count, before.isNamed || areNamed)
        }
    }

    func statements(in application: Application.ID) -> [SQL] {
        Array(changes).powerOfTwoChunks(upTo: 256).map { chunk in
            """
            UPDATE identities SET
                conversation_count = conversation_count + column2,
                status = CASE
                    WHEN column3 = 1 AND status = \(User.IdentityStatus.unknown.rawValue)
                    THEN \(User.IdentityStatus.named.rawValue) ELSE status
                END
            FROM \(table: "changed", of: [
                .texts(chunk.map(\.key.text)), .integers(chunk.map(\.value.count)),
                .integers(chunk.map { entry in entry.value.isNamed ? 1 : 0 }),
            ])
            WHERE application = \(application) AND user_id = column1
            """
        }
    }
}

extension Identity {
    /// The value of `identities.metadata`.
    fileprivate var metadataColumn: [UInt8] {
        var writer = ByteWriter()
        writer.write(metadata)
        return writer.bytes
    }
}
