internal import Messaging
internal import MessagingStore
internal import MessagingWire

// From what the store gives to what is shown: here, because shapes know nothing of the store.
extension ConversationJSON {
    /// A conversation as the system sees it.
    init(_ snapshot: ConversationSnapshot) {
        let conversation = snapshot.conversation
        self.init(
            id: conversation.id, createdAt: conversation.createdAt,
            participants: snapshot.participants, isDistinct: conversation.isDistinct,
            metadata: conversation.metadata.view)
    }
}

extension MessageJSON {
    /// A message as the system sees it.
    init(_ snapshot: MessageSnapshot) {
        self.init(
            snapshot.message, sender: snapshot.sender,
            recipientStatus: snapshot.recipients.map { entry in (entry.userID, entry.status) })
    }
}

extension WebhookEventJSON {
    /// An event as receivers hear of it.
    init(_ told: ToldEvent) {
        switch told.subject {
        case .message(let snapshot):
            self.init(told.occurrence, .message(.whole(MessageJSON(snapshot))))
        case .deletedMessage(let id, let conversation):
            self.init(told.occurrence, .message(.deleted(id, in: conversation)))
        case .conversation(let snapshot):
            self.init(told.occurrence, .conversation(ConversationJSON(snapshot)))
        }
    }
}
