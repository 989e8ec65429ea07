internal import Messaging
public import MessagingStore
public import MessagingWire

extension ConversationJSON {
    /// A conversation as the system sees it.
    public init(_ snapshot: ConversationSnapshot) {
        let conversation = snapshot.conversation
        self.init(
            id: conversation.id, createdAt: conversation.createdAt,
            participants: snapshot.participants, isDistinct: conversation.isDistinct,
            metadata: conversation.metadata.view)
    }

    /// A conversation as a user sees it.
    public init(_ view: ConversationView) {
        self.init(
            id: view.id, createdAt: view.createdAt, participants: view.participants,
            isDistinct: view.isDistinct, metadata: view.metadata,
            userView: UserView(
                lastMessage: view.lastMessage.map { message in MessageJSON(message) },
                unreadCount: view.unreadCount, totalCount: view.totalCount))
    }
}
