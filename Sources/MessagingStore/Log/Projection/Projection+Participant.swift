import Messaging
import SQL

extension Projection {
    /// A changed set makes a distinct conversation an ordinary one for ever (R5).
    func apply(_ change: ParticipantsChanged) throws {
        try transaction.execute(
            """
            UPDATE conversations SET is_distinct = 0, distinct_key = NULL, version = version + 1
            WHERE application = \(application) AND id = \(change.conversation)
            """)
        for user in change.removed {
            try leave(user, change.conversation, after: change.after)
        }
        for user in change.added {
            try join(user, at: 0, change.conversation, after: change.after)
        }
        for (place, user) in change.participants.users.enumerated() {
            try transaction.execute(
                """
                UPDATE participants SET place = \(place)
                WHERE application = \(application) AND conversation = \(change.conversation)
                    AND user_id = \(user) AND place <> \(place)
                """)
        }
    }

    /// Adds a user, or takes him back: his unread messages begin now (R12, R15).
    func join(
        _ user: UserID, at place: Int, _ conversation: Conversation.ID, after last: Position
    ) throws {
        guard
            let former = try transaction.participant(user, in: conversation, in: application)
        else {
            try transaction.execute(
                """
                INSERT INTO participants (
                    application, conversation, user_id, place, past, joined_after, left_after,
                    messages_before, messages_until, sent_count, read_count, frozen_metadata,
                    conversation_created_at
                ) SELECT
                    application, id, \(user), \(place), '', \(last), NULL,
                    message_count, NULL, 0, 0, NULL, created_at
                FROM conversations WHERE application = \(application) AND id = \(conversation)
                """)
            return try nameInConversation(user)
        }
        try transaction.execute(
            """
            UPDATE participants SET
                past = \(former.returning(after: last).past.text),
                joined_after = \(last), left_after = NULL,
                messages_before = (
                    SELECT message_count FROM conversations
                    WHERE application = \(application) AND id = \(conversation)
                ),
                messages_until = NULL, sent_count = 0, read_count = 0, frozen_metadata = NULL
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user)
            """)
    }

    /// Freezes what a user sees of a conversation at his removal (R14).
    private func leave(
        _ user: UserID, _ conversation: Conversation.ID, after last: Position
    ) throws {
        try transaction.execute(
            """
            UPDATE participants SET
                left_after = \(last),
                messages_until = (
                    SELECT message_count FROM conversations
                    WHERE application = \(application) AND id = \(conversation)
                ),
                frozen_metadata = (
                    SELECT metadata FROM conversations
                    WHERE application = \(application) AND id = \(conversation)
                )
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user)
            """)
    }
}
