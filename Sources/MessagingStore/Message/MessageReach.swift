public import Messaging
import SQL

/// How a caller gets at a message: whose rights he has, and what he must have named.
public enum MessageReach: Sendable {
    /// The system, through the conversation the message must belong to; an alias counts as its
    /// winner.
    case system(Conversation.ID)
    /// A user, who must see it.
    case user(UserID)

    /// The user; `nil` for the system.
    var viewer: UserID? {
        switch self {
        case .system: nil
        case .user(let user): user
        }
    }
}

extension Transaction {
    /// A message to read.
    func message(
        _ id: Message.ID, by reach: MessageReach, in application: Application.ID
    ) throws -> Message {
        switch reach {
        case .system(let conversation):
            return try liveMessage(id, in: conversation, in: application)
        case .user(let user):
            try requireUser(user, in: application)
            return try visibleMessage(id, for: user, in: application)
        }
    }

    /// A message whose parts are to be changed; its conversation is locked, so that neither changes
    /// meanwhile. Of the users only its sender may, while he takes part (client-api §4.3, R14).
    func messageToChange(
        _ id: Message.ID, by reach: MessageReach, in application: Application.ID
    ) throws -> Message {
        switch reach {
        case .system(let conversation):
            let home = try lockedConversation(conversation, in: application)
            return try liveMessage(id, in: home.id, in: application)
        case .user(let user):
            let message = try message(id, by: reach, in: application)
            let home = try lockedConversation(message.conversation, in: application)
            guard let part = try participant(user, in: home.id, in: application), !part.isFormer
            else { throw Rejection.accessDenied }
            guard message.sender.userID == user else { throw Rejection.notSender }
            return message
        }
    }
}
