public import Messaging

/// An occurrence with everything its JSON shows.
public struct ToldEvent: Sendable {
    /// What happened.
    public let occurrence: Occurrence
    /// What it happened to, as it is now, or as the event says it was.
    public let subject: Subject

    /// What things happen to.
    public enum Subject: Equatable, Sendable {
        case message(MessageSnapshot)
        case conversation(ConversationSnapshot)
        /// A message that is no more: rows and log keep nothing else under its name.
        case deletedMessage(Message.ID, in: Conversation.ID)
    }
}
