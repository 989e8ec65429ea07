import Messaging
import SQL

extension Transaction {
    /// A conversation with the identities it shows.
    func snapshot(
        of conversation: Conversation, in application: Application.ID
    ) throws -> ConversationSnapshot {
        let users = conversation.participants.users
        let identities = try identities(of: Set(users), in: application)
        return ConversationSnapshot(
            conversation: conversation, participants: users.map(identities.identity))
    }
}
