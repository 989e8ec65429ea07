import Messaging
import SQL

extension Projection {
    /// Stores an identity that the application provides; creates the user if necessary.
    func provide(_ identity: Identity) throws {
        try saveIdentity(of: identity.userID)
        let isNew = try !create([identity.userID], as: .provided).isEmpty
        var metadata = ByteWriter()
        metadata.write(identity.metadata)
        try transaction.execute(
            """
            UPDATE identities SET
                display_name = \(identity[.displayName]), avatar_url = \(identity[.avatarURL]),
                kind = \(identity.kind.rawValue), status = \(User.IdentityStatus.provided.rawValue),
                first_name = \(identity[.firstName]), last_name = \(identity[.lastName]),
                phone_number = \(identity[.phoneNumber]),
                email_address = \(identity[.emailAddress]), metadata = \(metadata.bytes),
                public_key = \(identity[.publicKey]),
                identity_version = identity_version + \(isNew ? 0 : 1)
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

    /// Creates a followed user that does not exist yet. They have an identity, because the list of followed users shows
    /// identities (ruling 10).
    func createFollowedUser(_ user: UserID) throws {
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
        guard !known.isEmpty else { return new }
        let row = RowCacheKey<NamedUsers>(of: application.bytes, in: "identities")
        if let named = transaction.deferred(row) {
            named.add(known, inConversations: count)
            return new
        }
        let named = NamedUsers()
        named.add(known, inConversations: count)
        transaction.deferWrites(named, of: row) { [application] in
            named.statements(in: application)
        }
        return new
    }

    /// Creates the users that an imported record refers to. Known users keep their status, which their own
    /// record has set.
    func createImportedUsers(_ users: [UserID]) throws { try create(users, as: .named) }

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
    /// No other code inserts rows into `identities`.
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
        let values: SQL =
            "\(Identity.Kind.user.rawValue), \(count), \(status.rawValue), \(followed), \(moment)"
        guard users.count > Self.fewUsers else {
            for user in users {
                transaction.add(
                    "(\(application), \(user), \(values))",
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
                SELECT \(application), named.column1, \(values)
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
    /// of the commit; more have statements of their own.
    private static let fewUsers = 100
}

/// The known users that the changes of a commit name, and by how much the number of their conversations changes.
private final class NamedUsers {
    private var counts: [UserID: Int64] = [:]

    func add(_ users: [UserID], inConversations count: Int64) {
        for user in users { counts[user, default: 0] += count }
    }

    func statements(in application: Application.ID) -> [SQL] {
        Array(counts).powerOfTwoChunks(upTo: 256).map { chunk in
            """
            UPDATE identities SET
                conversation_count = conversation_count + column2,
                status = CASE status
                    WHEN \(User.IdentityStatus.unknown.rawValue)
                    THEN \(User.IdentityStatus.named.rawValue) ELSE status
                END
            FROM \(table: "named", of: [.texts(chunk.map(\.key.text)), .integers(chunk.map(\.value))])
            WHERE application = \(application) AND user_id = column1
            """
        }
    }
}
