import Messaging

/// What the objects of events are now for one user, and the operations that tell the user of the events.
struct ChangedObjects {
    let seen: UserViewReader
    var marks: [Conversation.ID: FeedMarks] = [:]
    var rows: [Conversation.ID: ConversationViewRow] = [:]
    /// The conversations that have become visible.
    var created: [Conversation.ID: ConversationView] = [:]
    /// The messages that the user sees.
    var messages: [Message.ID: MessageSnapshot] = [:]
    /// What the user sees of events of receipts, by their positions.
    var received: [LogPosition: ReceivedMessages] = [:]
    /// The identities of the user and of followed users that have changed.
    var identities: [UserID: Identity] = [:]
    var followed: Set<UserID> = []
    var announcements: [Announcement.ID: AnnouncementView] = [:]

    init(seenBy seen: UserViewReader) { self.seen = seen }

    /// The messages whose receipts an event records.
    struct ReceivedMessages {
        /// The last position that the event names.
        let last: Position
        /// In the order of their positions.
        var messages: [SharedReads.ReceivedMessage] = []
        /// Whether the participant has read several messages, and now every message up to the last position.
        var areAllRead: Bool
    }

    private func isCurrent(_ id: Conversation.ID) -> Bool {
        seen.view(of: id).map { view in !view.participant.isFormer } ?? false
    }
}

extension ChangedObjects {
    /// What each event means for the user.
    func operations(
        _ events: [RecordedEvent]
    ) -> [(event: RecordedEvent, operations: [UserChange.Operation])] {
        // The counts of a conversation are reported with the last event that changes them.
        var last: [Conversation.ID: LogPosition] = [:]
        for recorded in events {
            if let id = counted(by: recorded.event) { last[id] = recorded.position }
        }
        return events.map { recorded in
            var operations = appearance(with: recorded) + operations(of: recorded)
            if let id = counted(by: recorded.event), last[id] == recorded.position,
                let row = rows[id]
            {
                operations.append(
                    .counts(id, lastMessage: row.lastMessage, unread: row.unreadCount))
            }
            return (recorded, operations)
        }
    }

    /// The conversation that becomes visible with an event.
    private func appearance(with recorded: RecordedEvent) -> [UserChange.Operation] {
        guard let id = recorded.event.namedConversation, let view = created[id],
            let mark = marks[id]
        else { return [] }
        let own = mark.ownWindow ?? .start
        guard own == recorded.position || mark.window == recorded.position else { return [] }
        switch recorded.event {
        case .messageSent, .conversationAnnounced:
            // Its creator has seen it before it was announced to the others.
            if own > .start, own < recorded.position { return [] }
        default: break
        }
        let cleared = seen.view(of: id)?.participant.clearedTo ?? .start
        guard cleared > .start else { return [.conversationCreated(view)] }
        return [.conversationCleared(id, through: cleared), .conversationCreated(view)]
    }

    /// The conversation whose counts an event changes.
    private func counted(by event: Event) -> Conversation.ID? {
        switch event {
        case .messageSent(let payload):
            messages[payload.message.id] == nil ? nil : payload.message.conversation
        case .messageDeleted(let payload): payload.message.conversation
        case .messageHidden(let payload) where payload.user == seen.user: payload.conversation
        case .receiptsRecorded(let payload)
        where payload.user == seen.user && payload.kind == .read:
            payload.conversation
        default: nil
        }
    }

    private func operations(of recorded: RecordedEvent) -> [UserChange.Operation] {
        switch recorded.event {
        case .conversationDeleted(let payload):
            return marks[payload.conversation.id]?.goneSince == recorded.position
                ? [.conversationDeleted(payload.conversation.id, forAll: true)] : []
        case .conversationHidden(let payload) where payload.user == seen.user:
            return [.conversationDeleted(payload.conversation, forAll: false)]
        case .conversationMerged(let payload):
            guard seen.view(of: payload.winner) != nil, let loser = payload.loser else { return [] }
            return [.conversationDeleted(loser, forAll: false)]
        case .participantsChanged(let payload):
            guard created[payload.conversation] == nil,
                isCurrent(payload.conversation)
                    || seen.view(of: payload.conversation) != nil
                        && payload.removed.contains(seen.user)
            else { return [] }
            let added = payload.added.map { user in seen.shared.identity(of: user) }
            return [.participants(payload.conversation, added: added, removed: payload.removed)]
        case .metadataChanged(let payload) where isCurrent(payload.conversation):
            return [.metadata(payload.conversation, payload.writes)]
        case .messageSent(let payload):
            return messages[payload.message.id].map { [.messageCreated($0)] } ?? []
        case .partsChanged(let payload):
            return messages[payload.message].map { [.parts($0, payload)] } ?? []
        case .messageErased(let payload):
            return messages[payload.message].map { [.messageErased($0)] } ?? []
        case .messageDeleted(let payload):
            let message = payload.message
            let isSeen = seen.view(of: message.conversation)?.sees(message.position) ?? false
            return isSeen ? [.messageDeleted(message.id, forAll: true)] : []
        case .messageHidden(let payload) where payload.user == seen.user:
            return [.messageDeleted(payload.message, forAll: false)]
        case .receiptsRecorded(let payload): return operations(of: payload, at: recorded.position)
        case .announcementSent(let payload):
            return announcements[payload.announcement.id].map { view in
                [.announcementCreated(view.announcement, sender: view.sender, view.status)]
            } ?? []
        case .announcementReceived(let payload) where payload.user == seen.user:
            return [.announcementStatus(payload.announcement, payload.kind.status)]
        case .announcementDeleted(let payload) where payload.user == seen.user:
            return [.announcementDeleted(payload.announcement)]
        case .identityReplaced(let payload): return changed(payload.identity.userID)
        case .identityPatched(let payload): return changed(payload.user)
        case .identityDeleted(let payload) where followed.contains(payload.user):
            return [.identityDeleted(payload.user)]
        default: return []
        }
    }

    private func changed(_ user: UserID) -> [UserChange.Operation] {
        identities[user].map { [.identityChanged($0)] } ?? []
    }

    private func operations(
        of payload: ReceiptsRecorded, at position: LogPosition
    ) -> [UserChange.Operation] {
        guard let found = received[position] else { return [] }
        let isOwn = payload.user == seen.user
        if found.areAllRead, found.messages.count > 1 {
            let reader = seen.shared.identity(of: payload.user)
            return [
                .markedAllRead(
                    payload.conversation, found.last, by: reader, found.messages.map(\.id),
                    isOwn: isOwn)
            ]
        }
        let owner = ReceiptOwner(conversation: payload.conversation, user: payload.user)
        let known = seen.shared.receipts(of: owner) ?? Receipts()
        return found.messages.map { message in
            .messageStatus(
                message.id, of: payload.user, known.status(at: message.position), isOwn: isOwn)
        }
    }
}
