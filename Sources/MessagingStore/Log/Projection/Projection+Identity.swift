import Messaging
import SQL

extension Projection {
    func name(_ identity: Identity) throws {
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count
            ) VALUES (
                \(application), \(identity.userID), \(identity.displayName),
                \(identity.avatarURL), \(identity.kind.rawValue), 0
            ) ON CONFLICT (application, user_id) DO UPDATE SET
                display_name = excluded.display_name, avatar_url = excluded.avatar_url,
                kind = excluded.kind
            """)
    }

    /// A user comes into being by whatever names him first (R90, platform-api §3.9).
    func know(_ user: UserID) throws {
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count
            ) VALUES (\(application), \(user), NULL, NULL, \(Identity.Kind.user.rawValue), 0)
            ON CONFLICT (application, user_id) DO NOTHING
            """)
    }

    /// Makes a participant known, who comes into being by being named (R90).
    ///
    /// - Parameter isShown: Whether he sees the conversation, which is one more for him then.
    func nameInConversation(_ user: UserID, isShown: Bool) throws {
        let count = isShown ? 1 : 0
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count
            ) VALUES (\(application), \(user), NULL, NULL, \(Identity.Kind.user.rawValue), \(count))
            ON CONFLICT (application, user_id) DO UPDATE SET
                conversation_count = identities.conversation_count + \(count)
            """)
    }

    /// Makes a recipient known (platform-api §3.9), and counts the announcements he gets.
    func nameAsRecipient(_ user: UserID, ofAnnouncements count: Int64) throws {
        try transaction.execute(
            """
            INSERT INTO identities (
                application, user_id, display_name, avatar_url, kind, conversation_count,
                announcement_count
            ) VALUES (
                \(application), \(user), NULL, NULL, \(Identity.Kind.user.rawValue), 0, \(count)
            ) ON CONFLICT (application, user_id) DO UPDATE SET
                announcement_count = identities.announcement_count + excluded.announcement_count
            """)
    }
}
