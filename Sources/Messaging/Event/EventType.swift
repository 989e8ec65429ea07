/// What readers of the log call what happened (X3).
///
/// Where webhooks of version 1.0 have a word for it, it is theirs. A raw value is never changed once
/// released.
public enum EventType: String, CaseIterable, Sendable {
    case applicationCreated = "application.created"
    case applicationSuspended = "application.suspended"
    case sessionLifetimeSet = "session_lifetime.set"
    case tokenCreated = "token.created"
    case tokenRevoked = "token.revoked"
    case identityNamed = "identity.named"
    case identityTold = "identity.told"
    case identityPatched = "identity.patched"
    case identityDeleted = "identity.deleted"
    case followingChanged = "following.changed"
    case blocksChanged = "blocks.changed"
    case badgeSet = "badge.set"
    case userSuspended = "user.suspended"
    case sessionsEnded = "sessions.ended"
    case conversationCreated = "conversation.created"
    case conversationMatched = "conversation.matched"
    case conversationMerged = "conversation.merged"
    case conversationShown = "conversation.shown"
    case conversationAnnounced = "conversation.announced"
    case conversationHidden = "conversation.hidden"
    case participantsChanged = "conversation.updated.participants"
    case metadataChanged = "conversation.updated.metadata"
    case conversationDeleted = "conversation.deleted"
    case messageSent = "message.sent"
    case messageDelivered = "message.delivered"
    case messageRead = "message.read"
    case messageUpdated = "message.updated"
    case messageDeleted = "message.deleted"
    case messageHidden = "message.hidden"
    case messageScheduled = "message.scheduled"
    case scheduleEnded = "schedule.ended"
    case batchAccepted = "batch.accepted"
    case contentUploaded = "content.uploaded"
    case contentOwned = "content.owned"
    case contentWithdrawn = "content.withdrawn"
    case contentsErased = "contents.erased"
    case announcementSent = "announcement.sent"
    case announcementReceived = "announcement.received"
    case announcementDeleted = "announcement.deleted"
    case notificationSent = "notification.sent"
    case exportKeyChanged = "export.key_changed"
    case exportScheduleChanged = "export.schedule_changed"
    case exportRequested = "export.requested"
    case exportStarted = "export.started"
    case exportCompleted = "export.completed"
    case exportDeleted = "export.deleted"
    case exportExpired = "export.expired"
    case exportErased = "export.erased"
    case recordImported = "record.imported"
    case webhookCreated = "webhook.created"
    case webhookUpdated = "webhook.updated"
    case webhookSecretRotated = "webhook.secret_rotated"
    case webhookDeleted = "webhook.deleted"
}

extension Event {
    /// What readers call it.
    public var type: EventType {
        switch self {
        case .applicationCreated: .applicationCreated
        case .applicationSuspended: .applicationSuspended
        case .tokenCreated: .tokenCreated
        case .tokenRevoked: .tokenRevoked
        case .identityNamed: .identityNamed
        case .conversationCreated: .conversationCreated
        case .conversationMatched: .conversationMatched
        case .conversationMerged: .conversationMerged
        case .conversationShown: .conversationShown
        case .conversationAnnounced: .conversationAnnounced
        case .conversationHidden: .conversationHidden
        case .participantsChanged: .participantsChanged
        case .metadataChanged: .metadataChanged
        case .conversationDeleted: .conversationDeleted
        case .messageSent: .messageSent
        case .messageDeleted: .messageDeleted
        case .messageHidden: .messageHidden
        case .receiptsRecorded(let receipts):
            switch receipts.kind {
            case .delivery: .messageDelivered
            case .read: .messageRead
            }
        case .contentUploaded: .contentUploaded
        case .contentWithdrawn: .contentWithdrawn
        case .blocksChanged: .blocksChanged
        case .announcementSent: .announcementSent
        case .announcementReceived: .announcementReceived
        case .announcementDeleted: .announcementDeleted
        case .notificationSent: .notificationSent
        case .partsChanged: .messageUpdated
        case .exportKeyChanged: .exportKeyChanged
        case .exportRequested: .exportRequested
        case .exportStarted: .exportStarted
        case .exportCompleted: .exportCompleted
        case .exportDeleted: .exportDeleted
        case .exportExpired: .exportExpired
        case .exportErased: .exportErased
        case .exportScheduleChanged: .exportScheduleChanged
        case .identityTold: .identityTold
        case .identityPatched: .identityPatched
        case .identityDeleted: .identityDeleted
        case .followingChanged: .followingChanged
        case .badgeSet: .badgeSet
        case .userSuspended: .userSuspended
        case .sessionsEnded: .sessionsEnded
        case .sessionLifetimeSet: .sessionLifetimeSet
        case .messageScheduled: .messageScheduled
        case .scheduleEnded: .scheduleEnded
        case .batchAccepted: .batchAccepted
        case .contentOwned: .contentOwned
        case .contentsErased: .contentsErased
        case .messageRemoved: .messageDeleted
        case .conversationRemoved: .conversationDeleted
        case .recordImported: .recordImported
        case .webhookCreated: .webhookCreated
        case .webhookUpdated: .webhookUpdated
        case .webhookSecretRotated: .webhookSecretRotated
        case .webhookDeleted: .webhookDeleted
        }
    }
}
