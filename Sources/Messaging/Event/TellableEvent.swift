/// An event that receivers outside hear of (webhooks §4.2).
public enum TellableEvent: Equatable, Sendable {
    case messageSent(MessageSent)
    case receiptsRecorded(ReceiptsRecorded)
    case messageDeleted(Message.ID, in: Conversation.ID)
    case conversationCreated(Conversation)
    case participantsChanged(ParticipantsChanged)
    case metadataChanged(Conversation.ID)
    case conversationDeleted(Conversation.ID)

    /// What receivers ask for it by.
    public var topic: Topic {
        switch self {
        case .messageSent: .messageSent
        case .receiptsRecorded(let receipts):
            switch receipts.kind {
            case .delivery: .messageDelivered
            case .read: .messageRead
            }
        case .messageDeleted: .messageDeleted
        case .conversationCreated: .conversationCreated
        case .participantsChanged: .participantsChanged
        case .metadataChanged: .metadataChanged
        case .conversationDeleted: .conversationDeleted
        }
    }
}

extension Event {
    /// What receivers hear of; `nil` for what is nobody's business outside.
    public var tellable: TellableEvent? {
        switch self {
        case .messageSent(let sent): .messageSent(sent)
        case .receiptsRecorded(let receipts): .receiptsRecorded(receipts)
        case .messageDeleted(let id, let conversation, _):
            .messageDeleted(id, in: conversation)
        case .conversationCreated(let created): .conversationCreated(created.conversation)
        case .participantsChanged(let change): .participantsChanged(change)
        case .metadataChanged(let change): .metadataChanged(change.conversation)
        case .conversationDeleted(let id, _): .conversationDeleted(id)
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .identityNamed, .conversationMatched, .conversationMerged, .conversationShown,
            .conversationAnnounced,
            .conversationHidden, .messageHidden, .contentUploaded, .contentWithdrawn,
            .blocksChanged, .announcementSent, .announcementReceived, .announcementDeleted,
            .notificationSent, .partsChanged, .exportKeyChanged, .exportRequested, .exportStarted,
            .exportCompleted, .exportDeleted, .exportExpired, .exportErased,
            .exportScheduleChanged, .identityTold, .identityPatched, .identityDeleted,
            .followingChanged, .badgeSet, .userSuspended, .sessionsEnded, .sessionLifetimeSet,
            .messageScheduled, .scheduleEnded, .batchAccepted, .contentOwned, .contentsErased:
            nil
        }
    }
}
