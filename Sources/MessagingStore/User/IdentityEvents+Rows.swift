import Messaging
import SQL

extension Projection {
    /// Stores an identity that the application provides; creates the user if necessary.
    func provide(_ identity: Identity) throws {
        try saveIdentity(of: identity.userID)
        let isNew = try create([identity.userID], as: .provided) > 0
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
    /// - Returns: The number of new users.
    @discardableResult
    func createUsers(_ users: [UserID]) throws -> Int { try create(users, as: .unknown) }

    /// Creates a followed user that does not exist yet. They have an identity, because the list of followed users shows
    /// identities (rulings 10).
    func createFollowedUser(_ user: UserID) throws {
        try name([user], inConversations: 0)
    }

    /// Creates the participants of a conversation that do not exist yet, with identities (R90).
    ///
    /// - Parameter isShown: Whether the conversation is in their lists; then it is added to their counts.
    func createParticipants(_ users: [UserID], isShown: Bool) throws {
        try name(users, inConversations: isShown ? 1 : 0)
    }

    /// Gives users that others name an identity without names, if they have none, and adds to the number of
    /// conversations in their lists.
    private func name(_ users: [UserID], inConversations count: Int64) throws {
        try create(users, as: .named)
        for chunk in users.chunks(of: Self.usersAtOnce) {
            try transaction.execute(
                """
                UPDATE identities SET
                    conversation_count = conversation_count + \(count),
                    status = CASE status
                        WHEN \(User.IdentityStatus.unknown.rawValue)
                        THEN \(User.IdentityStatus.named.rawValue) ELSE status
                    END
                WHERE application = \(application) AND user_id \(in: chunk)
                """, reading: chunk.map { user in .user(user, in: application) })
        }
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
    /// - Returns: The number of new users.
    @discardableResult
    private func create(_ users: [UserID], as status: User.IdentityStatus) throws -> Int {
        var created = 0
        for chunk in Set(users).sorted().chunks(of: Self.usersAtOnce) {
            let known = try transaction.prefetchedIdentities(of: Set(chunk), in: application)
            let new = chunk.filter { user in known[user] == nil }
            for user in new {
                transaction.add(
                    """
                    (\(application), \(user), \(Identity.Kind.user.rawValue), 0, \(status.rawValue),
                    \(moment))
                    """,
                    to: "identities", keys: application.bytes + Array(user.text.utf8),
                    by: Insertion(
                        """
                        INSERT INTO identities (
                            application, user_id, kind, conversation_count, status, created_at
                        ) VALUES
                        """))
                transaction.cache(
                    BasicIdentity(userID: user),
                    for: BasicIdentity.cacheKey(of: user, in: application))
            }
            created += new.count
        }
        if created > 0 { addToCounts(users: Int64(created)) }
        return created
    }

    /// The maximum number of users in one statement.
    private static let usersAtOnce = 256
}
