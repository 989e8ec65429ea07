public import Messaging
import SQL

// The users that signals reach (client-api §5.7, §5.8). Signals themselves are never stored.
extension MessagingStore {
    /// Checks that a user may tell the others of a conversation that they type.
    ///
    /// - Returns: The own id of the conversation.
    /// - Throws: `Rejection.notFound(.conversation)` for a user that never took part or does not see it, `accessDenied` for
    ///   a former participant.
    public func requireTyping(
        by user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let (conversation, participant) = try transaction.lockedConversationRow(
                conversation, for: user, in: application)
            try participant.requireWriting()
            return conversation.id
        }
    }

    /// Which of some users learn that a user types: the other current participants that see the conversation, without
    /// those that block the user or are blocked; none in a wide conversation (ruling 38).
    ///
    /// - Returns: These users, and the identity of the one that types.
    public func typingAudience(
        of user: UserID, in conversation: Conversation.ID, among users: Set<UserID>,
        in application: Application.ID
    ) async throws -> (sender: BasicIdentity, users: Set<UserID>) {
        try await database.read { transaction in
            let found = try transaction.rows(
                """
                SELECT p.user_id FROM participants p
                JOIN conversations c ON c.application = p.application AND c.id = p.conversation
                WHERE p.application = \(application) AND p.conversation = \(conversation)
                    AND c.is_wide = 0 AND p.left_after IS NULL AND p.state = 'shown'
                    AND p.user_id <> \(user)
                    AND NOT EXISTS (
                        SELECT 1 FROM blocks b
                        WHERE b.application = p.application AND b.owner = p.user_id
                            AND b.blocked = \(user)
                    )
                    AND NOT EXISTS (
                        SELECT 1 FROM blocks b
                        WHERE b.application = p.application AND b.owner = \(user)
                            AND b.blocked = p.user_id
                    )
                """
            ) { row in try row.user(0) }
            let identities = try transaction.identities(of: [user], in: application)
            return (
                identities[user] ?? BasicIdentity(userID: user),
                Set(found).intersection(users)
            )
        }
    }

    /// Which of some users receive the presence of a user: those that follow the user and are not blocked, and the
    /// user.
    public func presenceAudience(
        of user: UserID, among users: Set<UserID>, in application: Application.ID
    ) async throws -> Set<UserID> {
        try await database.read { transaction in
            try transaction.presence("follower", among: users, "followed", user, in: application)
        }
    }

    /// The presence of which of some users a user sees.
    public func visiblePresence(
        of users: Set<UserID>, to viewer: UserID, in application: Application.ID
    ) async throws -> Set<UserID> {
        try await database.read { transaction in
            try transaction.presence("followed", among: users, "follower", viewer, in: application)
        }
    }
}

extension Transaction {
    /// Those of some users that see the presence of a user, or whose presence the user sees: users see that of those that they
    /// follow and that do not block them, and their own.
    ///
    /// - Parameters:
    ///   - side: The side of `following` on which the users are: `follower` or `followed`.
    ///   - other: The other side, on which the user is.
    fileprivate func presence(
        _ side: StaticString, among users: Set<UserID>, _ other: StaticString, _ user: UserID,
        in application: Application.ID
    ) throws -> Set<UserID> {
        var found = users.intersection([user])
        for chunk in users.sorted().chunks(of: 1024) {
            found.formUnion(
                try rows(
                    """
                    SELECT f.\(raw: side) FROM following f
                    WHERE f.application = \(application) AND f.\(raw: side) \(in: chunk)
                        AND f.\(raw: other) = \(user)
                        AND NOT EXISTS (
                            SELECT 1 FROM blocks b
                            WHERE b.application = f.application AND b.owner = f.followed
                                AND b.blocked = f.follower
                        )
                    """
                ) { row in try row.user(0) })
        }
        return found
    }
}

extension MessagingStore {
    /// Passes signals on to the other processes, which receive them through ``listen(onUpload:onSignal:)``.
    ///
    /// - Parameters:
    ///   - signal: At most ``signalLimit`` bytes.
    ///   - process: Names the sending process, which receives the signal too.
    public func pass(
        _ signal: [UInt8], from process: String, in application: Application.ID
    ) async throws {
        guard database.isShared else { return }
        let notification = StoreNotification.signal(of: application, from: process, signal)
        try await database.write { transaction in transaction.notify(notification.subject, 0) }
    }

    /// The most bytes of a signal: PostgreSQL transfers up to 8,000 bytes of text.
    public static let signalLimit = 4096
}
