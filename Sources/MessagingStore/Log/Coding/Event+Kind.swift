import Messaging

extension Event {
    /// The event's name in the log; never changed once released.
    var kind: String {
        switch self {
        case .applicationCreated: "application.created"
        case .applicationSuspended: "application.suspended"
        case .tokenCreated: "token.created"
        case .tokenRevoked: "token.revoked"
        case .identityNamed: "identity.named"
        case .conversationCreated: "conversation.created"
        case .conversationMatched: "conversation.matched"
        case .conversationShown: "conversation.shown"
        case .conversationAnnounced: "conversation.announced"
        case .conversationHidden: "conversation.hidden"
        case .participantsChanged: "participants.changed"
        case .metadataChanged: "metadata.changed"
        case .conversationDeleted: "conversation.deleted"
        case .messageSent: "message.sent"
        case .messageDeleted: "message.deleted"
        case .messageHidden: "message.hidden"
        case .receiptsRecorded: "receipts.recorded"
        case .contentUploaded: "content.uploaded"
        case .contentWithdrawn: "content.withdrawn"
        case .blocksChanged: "blocks.changed"
        case .announcementSent: "announcement.sent"
        case .announcementReceived: "announcement.received"
        case .announcementDeleted: "announcement.deleted"
        case .notificationSent: "notification.sent"
        case .partsChanged: "parts.changed"
        case .exportKeyChanged: "export.key_changed"
        case .exportRequested: "export.requested"
        case .exportStarted: "export.started"
        case .exportCompleted: "export.completed"
        case .exportDeleted: "export.deleted"
        case .exportExpired: "export.expired"
        case .exportErased: "export.erased"
        case .exportScheduleChanged: "export.schedule_changed"
        }
    }
}
