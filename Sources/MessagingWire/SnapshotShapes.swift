public import Messaging

// The JSON of values that the store reads.

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

extension MessageJSON {
    /// A message with the identities of the users it mentions.
    public init(_ snapshot: MessageSnapshot) {
        self.init(
            snapshot.message, sender: snapshot.sender,
            recipientStatus: snapshot.recipients.map { entry in (entry.userID, entry.status) },
            isUnread: snapshot.isUnread, receivedAt: snapshot.receivedAt)
    }
}

extension WebhookEventJSON {
    /// An event as receivers get it.
    public init(_ told: WebhookEvent) {
        self.init(told.occurrence, by: told.actor, Subject(told.subject))
    }
}

extension WebhookEventJSON.Subject {
    fileprivate init(_ subject: WebhookEvent.Subject) {
        switch subject {
        case .message(let snapshot): self = .message(.whole(MessageJSON(snapshot)))
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
