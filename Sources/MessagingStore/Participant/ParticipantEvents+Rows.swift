import Messaging
import SQL

extension Projection {
    /// Adds and removes participants. A distinct conversation becomes an ordinary one permanently (R5).
    func apply(_ change: ParticipantsChanged) throws {
        try saveConversation(change.conversation)
        try saveParticipants(of: change.conversation)
        let isAnnounced = try transaction.first(
            """
            UPDATE conversations SET is_distinct = 0, distinct_key = NULL, version = version + 1
            WHERE application = \(application) AND id = \(change.conversation)
            RETURNING is_announced
            """
        ) { row in try row.bool(0) }
        let stayed = change.participants.users.filter { user in !change.added.contains(user) }
        try disconnect(
            change.removed, among: stayed + change.removed, of: change.conversation)
        for user in change.removed {
            try leave(user, change.conversation, after: change.after)
        }
        for user in change.added {
            try join(
                user, at: 0, change.conversation, after: change.after,
                isAnnounced: isAnnounced ?? true)
        }
        try connect(change.added, among: change.participants.users, of: change.conversation)
        for (place, user) in change.participants.users.enumerated() {
            try transaction.execute(
                """
                UPDATE participants SET place = \(place)
                WHERE application = \(application) AND conversation = \(change.conversation)
                    AND user_id = \(user) AND place <> \(place)
                """)
        }
    }

    /// Adds a user, which may be a former participant; only messages from now on can be unread (R12, R15).
    ///
    /// - Parameters:
    ///   - last: The last position of the conversation.
    ///   - isAnnounced: Whether the user sees the conversation at once (R53).
    func join(
        _ user: UserID, at place: Int, _ conversation: Conversation.ID, after last: Position,
        isAnnounced: Bool
    ) throws {
        let former = try transaction.participant(user, in: conversation, in: application)
        // Before the first message there is nothing to hide or to look up.
        let hidden =
            last > .start
            ? try hideBlocked(from: user, in: conversation, after: former?.leftAfter ?? .start)
            : (count: 0, isAll: false)
        let isShown = isAnnounced && !hidden.isAll
        if let former {
            try restore(
                former, conversation, after: last, isShown: isShown, hiding: hidden.count)
            // `restore` has counted the conversation. The user exists, but their identity may have been deleted.
            try createParticipants([user], isShown: false)
        } else {
            try insertParticipant(
                user, at: place, conversation, after: last, isShown: isShown,
                hiding: hidden.count)
            try createParticipants([user], isShown: isShown)
        }
        guard last > .start else { return }
        try findLastMessage(in: conversation, of: user, insteadOf: nil)
    }

    /// Inserts the row of a user that has never been a participant; ``createParticipants(_:isShown:)`` creates the user.
    ///
    /// - Parameter hidden: The number of messages hidden by blocks.
    func insertParticipant(
        _ user: UserID, at place: Int, _ conversation: Conversation.ID, after last: Position,
        isShown: Bool, hiding hidden: Int64 = 0
    ) throws {
        let state = isShown ? ViewState.shown : .unseen
        try transaction.execute(
            """
            INSERT INTO participants (
                application, conversation, user_id, place, past, joined_after, left_after,
                frozen_metadata, conversation_created_at, state, total_count,
                unshown_count, last_at
            ) SELECT
                application, id, \(user), \(place), '', \(last), NULL, NULL, created_at,
                \(state.rawValue), message_count - \(hidden), \(hidden), created_at
            FROM conversations WHERE application = \(application) AND id = \(conversation)
            """,
            reading: [.conversation(conversation, in: application)],
            changing: [.conversation(conversation, in: application, "participants")])
    }

    /// Adds a former participant again. Messages that they deleted for themselves stay hidden; that they had left hides
    /// none (rulings 15).
    private func restore(
        _ former: Participant, _ conversation: Conversation.ID, after last: Position,
        isShown: Bool, hiding hidden: Int64
    ) throws {
        try saveFrozenMetadata(
            of: ReceiptOwner(conversation: conversation, user: former.userID))
        let state = isShown || former.state == .shown ? ViewState.shown : .unseen
        try transaction.execute(
            """
            UPDATE participants SET
                past = \(former.returning(after: last).past.text),
                joined_after = \(last), left_after = NULL, frozen_metadata = NULL,
                state = \(state.rawValue), shown_from = NULL, unread_count = 0,
                unshown_count = unshown_count + \(hidden),
                total_count = (
                    SELECT message_count FROM conversations
                    WHERE application = \(application) AND id = \(conversation)
                ) - unshown_count - \(hidden)
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(former.userID)
            """)
        if state == .shown, former.state != .shown { try count(shown: [former.userID], 1) }
    }

    /// Makes a participant a former one, which sees the messages and metadata up to now (R14).
    private func leave(
        _ user: UserID, _ conversation: Conversation.ID, after last: Position
    ) throws {
        try transaction.execute(
            """
            UPDATE participants SET
                left_after = \(last),
                frozen_metadata = (
                    SELECT metadata FROM conversations
                    WHERE application = \(application) AND id = \(conversation)
                )
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user)
            """)
    }
}
