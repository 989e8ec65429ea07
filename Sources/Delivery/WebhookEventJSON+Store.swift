internal import MessagingShapes
internal import MessagingStore
internal import MessagingWire

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
