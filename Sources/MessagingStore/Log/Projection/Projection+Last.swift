import Messaging
import SQL

// What readers of the log need of the time before a deletion, should they come to it afterwards.
extension Projection {
    /// Keeps where a message stood, and where in the log it is to be found.
    func keepPlace(of message: Message) throws {
        try transaction.execute(
            """
            INSERT INTO deleted_messages (
                application, id, conversation, position, sender_user, event
            ) VALUES (
                \(application), \(message.id), \(message.conversation), \(message.position),
                \(message.sender.userID), \(position)
            )
            """)
    }

    /// Keeps who took part in a conversation, and what everybody had received and read.
    func keepLast(of conversation: Conversation.ID) throws {
        try transaction.execute(
            """
            INSERT INTO last_participants (
                application, conversation, user_id, place, past, joined_after, left_after, state,
                cleared_to, event
            )
            SELECT
                application, conversation, user_id, place, past, joined_after, left_after, state,
                cleared_to, \(position)
            FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
            """)
        try transaction.execute(
            """
            INSERT INTO last_receipts (
                application, conversation, user_id, delivered, read, event
            )
            SELECT application, conversation, user_id, delivered, read, \(position)
            FROM receipts
            WHERE application = \(application) AND conversation = \(conversation)
            """)
    }
}
