/// A change that a user sees, as an operation on an object (client-api §5.4, §5.5).
///
/// The objects are shown as they are when the change is read, so changes may be repeated without harm.
public struct UserChange: Equatable, Sendable {
    /// The time of the event.
    public let at: Timestamp
    /// What has changed, in this order.
    public let operations: [Operation]

    /// All members.
    public init(at: Timestamp, operations: [Operation]) {
        self.at = at
        self.operations = operations
    }

    /// What has changed.
    public enum Operation: Equatable, Sendable {
        /// The conversation has become visible to the user.
        case conversationCreated(ConversationView)
        /// The user had deleted the messages up to a position, and the conversation has become visible again (R16).
        case conversationCleared(Conversation.ID, through: Position)
        /// The user does not see the conversation any more; the flag tells whether it was deleted for all.
        case conversationDeleted(Conversation.ID, forAll: Bool)
        /// Participants were added and removed; the conversation is not distinct.
        case participants(Conversation.ID, added: [BasicIdentity], removed: [UserID])
        /// Metadata was written.
        case metadata(Conversation.ID, Metadata)
        /// The last message and the number of unread messages; `nil` for no message.
        case counts(Conversation.ID, lastMessage: Message.ID?, unread: Int64)
        /// A message was sent.
        case messageCreated(MessageSnapshot)
        /// A participant has received or read a message; the flag tells whether it is the user.
        case messageStatus(Message.ID, of: UserID, RecipientStatus, isOwn: Bool)
        /// A participant has read all messages up to a position: these changed with it.
        case markedAllRead(Conversation.ID, Position, by: BasicIdentity, [Message.ID], isOwn: Bool)
        /// The parts of a message have changed.
        case parts(MessageSnapshot, PartsChanged)
        /// The message became a tombstone, because its sender was erased (X16).
        case messageErased(MessageSnapshot)
        /// The user does not see the message any more; the flag tells whether it was deleted for all.
        case messageDeleted(Message.ID, forAll: Bool)
        /// The user has received an announcement.
        case announcementCreated(Announcement, sender: BasicIdentity?, RecipientStatus)
        /// The user has received or read an announcement on one of their devices.
        case announcementStatus(Announcement.ID, RecipientStatus)
        /// The user has deleted an announcement.
        case announcementDeleted(Announcement.ID)
        /// The user follows another user.
        case identityCreated(Identity)
        /// The identity of the user or of a followed user has changed.
        case identityChanged(Identity)
        /// The user does not follow another user any more, or that user's identity was deleted.
        case identityDeleted(UserID)
    }
}
