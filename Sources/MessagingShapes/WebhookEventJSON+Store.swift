public import MessagingStore
public import MessagingWire

extension WebhookEventJSON {
    /// An event as receivers hear of it.
    public init(_ told: ToldEvent) {
        self.init(told.occurrence, by: told.actor, Subject(told.subject))
    }
}

extension WebhookEventJSON.Subject {
    fileprivate init(_ subject: ToldEvent.Subject) {
        switch subject {
        case .message(let snapshot): self = .message(.whole(MessageJSON(snapshot)))
        case .deletedMessage(let id, let conversation):
            self = .message(.deleted(id, in: conversation))
        case .conversation(let snapshot): self = .conversation(ConversationJSON(snapshot))
        case .merged(let snapshot, let aliases):
            self = .merged(ConversationJSON(snapshot), aliases: aliases)
        case .receipt(let kind, let range, let conversation):
            self = .receipt(kind, range, in: conversation)
        case .participation(let snapshot, let changes):
            self = .participation(ConversationJSON(snapshot), changes: changes)
        case .part(let part, let message, let conversation):
            self = .part(WebhookPartJSON(part, of: message, in: conversation))
        case .deletedPart(let removed, let message, let conversation):
            self = .part(WebhookPartJSON(removed, of: message, in: conversation))
        }
    }
}
