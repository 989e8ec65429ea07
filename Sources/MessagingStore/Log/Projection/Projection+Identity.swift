import Messaging
import SQL

extension Projection {
    /// What a release wrote that knew of no more members.
    func name(_ identity: BasicIdentity) throws {
        try tell(
            Identity(
                userID: identity.userID, displayName: identity.displayName,
                avatarURL: identity.avatarURL, kind: identity.kind))
    }

    func tell(_ identity: Identity) throws {
        var metadata = ByteWriter()
        metadata.write(identity.metadata)
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count,
                standing, first_name, last_name, phone_number, email_address, metadata, public_key
            ) VALUES (
                \(application), \(identity.userID), \(identity[.displayName]),
                \(identity[.avatarURL]), \(identity.kind.rawValue), 0,
                \(User.Standing.told.rawValue), \(identity[.firstName]), \(identity[.lastName]),
                \(identity[.phoneNumber]), \(identity[.emailAddress]), \(metadata.bytes),
                \(identity[.publicKey])
            ) ON CONFLICT (application, user_id) DO UPDATE SET
                display_name = excluded.display_name, avatar_url = excluded.avatar_url,
                kind = excluded.kind, standing = excluded.standing,
                first_name = excluded.first_name, last_name = excluded.last_name,
                phone_number = excluded.phone_number, email_address = excluded.email_address,
                metadata = excluded.metadata, public_key = excluded.public_key,
                identity_version = identities.identity_version + 1
            """)
    }

    func apply(_ change: IdentityPatched) throws {
        let before = try transaction.user(change.user, in: application)?.identity
        try tell((before ?? Identity(userID: change.user)).patched(by: change.patches))
    }

    /// The user stays, and lists keep showing him without names (platform-api §5.7).
    func deleteIdentity(of user: UserID) throws {
        try tell(Identity(userID: user))
        try transaction.execute(
            """
            UPDATE identities SET standing = \(User.Standing.unknown.rawValue)
            WHERE application = \(application) AND user_id = \(user)
            """)
    }

    /// A user comes into being by whatever names him first (R90, platform-api §3.9).
    func know(_ user: UserID) throws {
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count, standing
            ) VALUES (
                \(application), \(user), NULL, NULL, \(Identity.Kind.user.rawValue), 0,
                \(User.Standing.unknown.rawValue)
            ) ON CONFLICT (application, user_id) DO NOTHING
            """)
    }

    /// The same for many.
    func know(_ users: [UserID]) throws {
        for some in users.powers(upTo: 256) {
            let rows = some.map { user -> [SQLValue] in
                [
                    application.bytes.sqlValue, user.text.sqlValue,
                    Identity.Kind.user.rawValue.sqlValue, Int64(0).sqlValue,
                    User.Standing.unknown.rawValue.sqlValue,
                ]
            }
            try transaction.execute(
                """
                INSERT INTO identities (
                    application, user_id, kind, conversation_count, standing
                ) VALUES \(rows: rows)
                ON CONFLICT (application, user_id) DO NOTHING
                """)
        }
    }

    /// The same for who is followed: he is listed as an identity, so he has one (rulings 10).
    func nameAsFollowed(_ user: UserID) throws {
        try name(user, inConversations: 0)
    }

    /// Makes a participant known, who comes into being by being named (R90).
    ///
    /// - Parameter isShown: Whether he sees the conversation, which is one more for him then.
    func nameInConversation(_ user: UserID, isShown: Bool) throws {
        try name(user, inConversations: isShown ? 1 : 0)
    }

    private func name(_ user: UserID, inConversations count: Int64) throws {
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count, standing
            ) VALUES (
                \(application), \(user), NULL, NULL, \(Identity.Kind.user.rawValue), \(count),
                \(User.Standing.named.rawValue)
            ) ON CONFLICT (application, user_id) DO UPDATE SET
                conversation_count = identities.conversation_count + excluded.conversation_count,
                standing = CASE identities.standing
                    WHEN \(User.Standing.unknown.rawValue) THEN excluded.standing
                    ELSE identities.standing
                END
            """)
    }

    /// Makes known whom a record that came from elsewhere names. Who is known already keeps his standing:
    /// his own record has told it.
    func nameInMoved(_ user: UserID, isShown: Bool) throws {
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, kind, conversation_count, standing
            ) VALUES (
                \(application), \(user), \(Identity.Kind.user.rawValue), \(isShown ? 1 : 0),
                \(User.Standing.named.rawValue)
            ) ON CONFLICT (application, user_id) DO UPDATE SET
                conversation_count = identities.conversation_count + excluded.conversation_count
            """)
    }

    /// Makes recipients known (platform-api §3.9), and counts the announcements they get.
    ///
    /// - Parameter users: All different; there may be 10,000, so a statement has many.
    func nameAsRecipients(_ users: [UserID], ofAnnouncements count: Int64) throws {
        for some in users.sorted().powers(upTo: 256) {
            let rows = some.map { user -> [SQLValue] in
                [
                    application.bytes.sqlValue, user.text.sqlValue,
                    Identity.Kind.user.rawValue.sqlValue, Int64(0).sqlValue, count.sqlValue,
                ]
            }
            try transaction.execute(
                """
                INSERT INTO identities (
                    application, user_id, kind, conversation_count, announcement_count
                ) VALUES \(rows: rows)
                ON CONFLICT (application, user_id) DO UPDATE SET
                    announcement_count =
                        identities.announcement_count + excluded.announcement_count
                """)
        }
    }
}
