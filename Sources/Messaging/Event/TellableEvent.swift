/// An event that receivers outside hear of (webhooks §4.2).
public enum TellableEvent: Equatable, Sendable {
    case messageSent(MessageSent)
    case receiptsRecorded(ReceiptsRecorded)
    case partsChanged(PartsChanged)
    /// As an earlier release recorded it: without what the message was.
    case messageDeleted(Message.ID, in: Conversation.ID)
    case messageRemoved(MessageRemoved)
    case conversationCreated(Conversation)
    case participantsChanged(ParticipantsChanged)
    case metadataChanged(Conversation.ID)
    case conversationMerged(ConversationMerged)
    /// As an earlier release recorded it: without what the conversation was.
    case conversationDeleted(Conversation.ID)
    case conversationRemoved(Conversation)
}

extension Event {
    /// What receivers hear of; `nil` for what is nobody's business outside.
    public var tellable: TellableEvent? {
        switch self {
        case .messageSent(let sent): .messageSent(sent)
        case .receiptsRecorded(let receipts): .receiptsRecorded(receipts)
        case .partsChanged(let change): .partsChanged(change)
        case .messageDeleted(let id, let conversation, _):
            .messageDeleted(id, in: conversation)
        case .messageRemoved(let removed): .messageRemoved(removed)
        case .conversationCreated(let created): .conversationCreated(created.conversation)
        case .participantsChanged(let change): .participantsChanged(change)
        case .metadataChanged(let change): .metadataChanged(change.conversation)
        case .conversationMerged(let merge): .conversationMerged(merge)
        case .conversationDeleted(let id, _): .conversationDeleted(id)
        case .conversationRemoved(let removed): .conversationRemoved(removed.conversation)
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .identityNamed, .conversationMatched, .conversationShown, .conversationAnnounced,
            .conversationHidden, .messageHidden, .contentUploaded, .contentWithdrawn,
            .blocksChanged, .announcementSent, .announcementReceived, .announcementDeleted,
            .notificationSent, .exportKeyChanged, .exportRequested, .exportStarted,
            .exportCompleted, .exportDeleted, .exportExpired, .exportErased,
            .exportScheduleChanged, .identityTold, .identityPatched, .identityDeleted,
            .followingChanged, .badgeSet, .userSuspended, .sessionsEnded, .sessionLifetimeSet,
            .messageScheduled, .scheduleEnded, .batchAccepted, .contentOwned, .contentsErased,
            .recordImported, .webhookCreated, .webhookUpdated, .webhookSecretRotated,
            .webhookDeleted:
            nil
        }
    }
}

extension Topic {
    /// The types of the events that are told of under it.
    public var types: Set<EventType> {
        switch self {
        case .messageSent: [.messageSent]
        case .messageDelivered: [.messageDelivered]
        case .messageRead: [.messageRead]
        case .receiptCreated: [.messageDelivered, .messageRead]
        case .messageDeleted: [.messageDeleted]
        case .messageUpdated, .partCreated, .partUpdated, .partDeleted: [.messageUpdated]
        case .conversationCreated: [.conversationCreated]
        case .participantsChanged, .participationCreated, .participationDeleted:
            [.participantsChanged]
        case .metadataChanged: [.metadataChanged, .conversationMerged]
        case .conversationMerged: [.conversationMerged]
        case .conversationDeleted: [.conversationDeleted]
        case .channelCreated, .channelUpdated, .channelDeleted, .membershipCreated,
            .membershipDeleted:
            []
        }
    }
}
