import Messaging

/// The users that events concern, as far as the events name them.
struct FeedAudience {
    var users: Set<UserID> = []
    /// Those that see one of these conversations.
    var conversations: Set<Conversation.ID> = []
    /// Those that have cleared one of these conversations: they take part without seeing it, and follow its users.
    var cleared: Set<Conversation.ID> = []
    /// Those that see the receipts of others in one of these conversations.
    var receipts: Set<Conversation.ID> = []
    /// Those that follow one of these users.
    var identities: Set<UserID> = []
    /// The recipients of these announcements.
    var announcements: Set<Announcement.ID> = []
    /// Whether a conversation was deleted: the rows of its participants are gone, and their own streams have the change.
    var hasDeletions = false
    /// Whether an event concerns users that it does not name.
    var isOpen = false
    var endings: [FeedActivity.Ending] = []

    mutating func add(_ event: Event) {
        switch event {
        case .identityReplaced(let payload): identities.insert(payload.identity.userID)
        case .identityPatched(let payload): identities.insert(payload.user)
        case .identityDeleted(let payload): identities.insert(payload.user)
        case .followingChanged(let payload): users.insert(payload.follower)
        case .userSuspended(let payload) where payload.isSuspended:
            endings.append(.sessions(of: payload.user))
        case .sessionEnded(let payload): endings.append(.session(payload.session))
        case .sessionsEnded(let payload): endings.append(.sessions(of: payload.user))
        case .applicationSuspended(let payload) where payload.isSuspended: endings.append(.all)
        case .conversationCreated(let payload): conversations.insert(payload.conversation.id)
        case .conversationMatched(let payload): conversations.insert(payload.conversation)
        case .conversationMerged(let payload): conversations.insert(payload.winner)
        case .conversationShown(let payload): users.formUnion(payload.users)
        case .conversationAnnounced(let payload): conversations.insert(payload.conversation)
        case .conversationHidden(let payload): users.insert(payload.user)
        case .participantsChanged(let payload):
            conversations.insert(payload.conversation)
            cleared.insert(payload.conversation)
            // They may not see the conversation, but those that they followed through it end.
            users.formUnion(payload.added + payload.removed)
        case .metadataChanged(let payload): conversations.insert(payload.conversation)
        case .conversationDeleted: hasDeletions = true
        case .messageSent(let payload): conversations.insert(payload.message.conversation)
        case .receiptsRecorded(let payload):
            users.insert(payload.user)
            receipts.insert(payload.conversation)
        case .partsChanged(let payload): conversations.insert(payload.conversation)
        case .messageDeleted(let payload): conversations.insert(payload.message.conversation)
        case .messageErased(let payload): conversations.insert(payload.conversation)
        case .messageHidden(let payload): users.insert(payload.user)
        case .announcementSent(let payload): users.formUnion(payload.recipients)
        case .announcementReceived(let payload): users.insert(payload.user)
        case .announcementDeleted(let payload): users.insert(payload.user)
        case .announcementErased(let payload): announcements.insert(payload.announcement)
        case .recordImported: isOpen = true
        default: break
        }
    }
}

extension Event {
    /// The conversation that an event of a conversation names.
    var namedConversation: Conversation.ID? {
        switch self {
        case .conversationCreated(let payload): payload.conversation.id
        case .conversationMatched(let payload): payload.conversation
        case .conversationMerged(let payload): payload.winner
        case .conversationShown(let payload): payload.conversation
        case .conversationAnnounced(let payload): payload.conversation
        case .conversationHidden(let payload): payload.conversation
        case .participantsChanged(let payload): payload.conversation
        case .metadataChanged(let payload): payload.conversation
        case .conversationDeleted(let payload): payload.conversation.id
        case .messageSent(let payload): payload.message.conversation
        case .receiptsRecorded(let payload): payload.conversation
        case .partsChanged(let payload): payload.conversation
        case .messageDeleted(let payload): payload.message.conversation
        case .messageErased(let payload): payload.conversation
        case .messageHidden(let payload): payload.conversation
        case .recordImported(let payload):
            if case .conversation(let archived) = payload.record {
                archived.conversation.id
            } else {
                nil
            }
        default: nil
        }
    }

    /// Whether it changes only messages, receipts and metadata of conversations that users see before and afterwards: what
    /// it means is read for all users at once.
    var isUsual: Bool {
        switch self {
        case .messageSent, .partsChanged, .messageDeleted, .messageErased, .messageHidden,
            .receiptsRecorded, .metadataChanged:
            true
        default: false
        }
    }

    /// Whether it changes what users see besides conversations.
    var isPersonal: Bool {
        switch self {
        case .identityReplaced, .identityPatched, .identityDeleted, .followingChanged,
            .announcementSent, .announcementReceived, .announcementDeleted, .announcementErased:
            true
        default: false
        }
    }

    /// Whether it may change which users follow each other.
    var changesFollowing: Bool {
        switch self {
        case .followingChanged, .participantsChanged, .conversationHidden, .conversationDeleted,
            .conversationShown, .conversationAnnounced, .conversationMerged, .recordImported:
            true
        default: false
        }
    }
}
