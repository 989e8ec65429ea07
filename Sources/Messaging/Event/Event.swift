/// A change of an application's state; rows can be made again from events alone.
///
/// A case is never changed once released, and nothing switches over events with a `default`.
public enum Event: Equatable, Sendable {
    /// An application came into being; the first event of its log.
    case applicationCreated(Application)
    /// An application was suspended, or set free again.
    case applicationSuspended(Application.ID, Bool)
    /// A token was made; with the SHA-256 of its secret.
    case tokenCreated(Token, digest: [UInt8])
    /// A token was revoked.
    case tokenRevoked(Token.ID, at: Timestamp)
    /// A user was told about, by a release that knew of no more than this.
    case identityNamed(BasicIdentity)
    /// A conversation was made, and with it every user it names (R90).
    case conversationCreated(ConversationCreated)
    /// A distinct creation met its match and left a key or a proposed id to remember.
    case conversationMatched(ConversationMatched)
    /// A distinct conversation took in another of the same participants (X1.5).
    case conversationMerged(ConversationMerged)
    /// A conversation came into the view of users before any message did it.
    case conversationShown(ConversationShown)
    /// A conversation came into the view of all participants before any message did it (R52).
    case conversationAnnounced(Conversation.ID, at: Timestamp)
    /// A user deleted a conversation for himself, or left it.
    case conversationHidden(ConversationHidden)
    /// The participant set changed.
    case participantsChanged(ParticipantsChanged)
    /// Metadata changed.
    case metadataChanged(MetadataChanged)
    /// A conversation was deleted for all.
    case conversationDeleted(Conversation.ID, at: Timestamp)
    /// A message was sent.
    case messageSent(MessageSent)
    /// A message was deleted for all.
    case messageDeleted(Message.ID, in: Conversation.ID, at: Position)
    /// A user deleted a message for himself.
    case messageHidden(MessageHidden)
    /// A participant received or read messages.
    case receiptsRecorded(ReceiptsRecorded)
    /// An upload was completed.
    case contentUploaded(Content)
    /// A content was taken back before any message showed it.
    case contentWithdrawn(Content.ID)
    /// A user blocked others, or lifted blocks.
    case blocksChanged(BlocksChanged)
    /// An announcement was made.
    case announcementSent(AnnouncementSent)
    /// A recipient received or read an announcement.
    case announcementReceived(AnnouncementReceived)
    /// A recipient deleted his copy of an announcement.
    case announcementDeleted(Announcement.ID, for: UserID, at: Timestamp)
    /// A notification without a message was handed over.
    case notificationSent(NotificationSent)
    /// Parts of a message were added, replaced or removed.
    case partsChanged(PartsChanged)
    /// Exports are sealed for another key from now on.
    case exportKeyChanged(ExportKey)
    /// An export was asked for; with the schedule it leaves behind when it was due by one.
    case exportRequested(Export, ExportSchedule?)
    /// Work on an export began, or began anew.
    case exportStarted(Export.ID, at: Timestamp)
    /// The archive of an export is complete.
    case exportCompleted(Export.ID, Export.Archive, at: Timestamp)
    /// An export was deleted; its archive is still to go.
    case exportDeleted(Export.ID, at: Timestamp)
    /// The time of an archive is over; it is still to go.
    case exportExpired(Export.ID, at: Timestamp)
    /// The archive of a deleted or expired export has gone.
    case exportErased(Export.ID)
    /// Exports come daily, or no more.
    case exportScheduleChanged(ExportSchedule)
    /// A user was told about, everything at once.
    case identityReplaced(Identity)
    /// Members of an identity were set.
    case identityPatched(IdentityPatched)
    /// What was told about a user was deleted; he stays, without names.
    case identityDeleted(UserID)
    /// A user follows others, or follows them no more.
    case followingChanged(FollowingChanged)
    /// The external part of a user's badge was set.
    case badgeSet(UserID, externalUnreadCount: Int64)
    /// A user was suspended, which ends his sessions, or set free again.
    case userSuspended(UserID, Bool, at: Timestamp)
    /// All sessions of a user that had begun by then ended.
    case sessionsEnded(UserID, at: Timestamp)
    /// The life of sessions yet to come was set, in seconds.
    case sessionLifetimeSet(seconds: Int64)
    /// A message was accepted that will be sent later.
    case messageScheduled(MessageScheduled)
    /// A scheduled message waits no more: it was sent, or its conversation or its sender is gone.
    case scheduleEnded(Message.ID, isSent: Bool, at: Timestamp)
    /// A content was uploaded on behalf of a user (R86).
    case contentOwned(Content.ID, by: UserID)
    /// The bytes of contents that are no more were deleted.
    case contentsErased([Content.ID])
    /// A batch of messages was accepted under a key that is to be remembered.
    case batchAccepted(Replay.Key, in: Conversation.ID)
    /// A message was deleted for all; with what it was, which ``messageDeleted(_:in:at:)`` of earlier
    /// releases did not keep.
    case messageRemoved(MessageRemoved)
    /// A conversation was deleted for all; with what it was, which ``conversationDeleted(_:at:)`` of
    /// earlier releases did not keep.
    case conversationRemoved(ConversationRemoved)
    /// Something came from another server as it was there (X10); nobody did it now.
    case recordImported(ArchiveRecord)
    /// A webhook was registered; as it is, without its secret.
    case webhookCreated(WebhookSummary)
    /// Another status of a webhook, or another reason for it; as it is since.
    case webhookUpdated(WebhookSummary)
    /// A webhook signs with another secret; the former one signs beside it until a moment.
    case webhookSecretRotated(WebhookSummary, formerUntil: Timestamp)
    /// A webhook was deleted, and what waited to be sent to it; as it was.
    case webhookDeleted(WebhookSummary)
}

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
    case identityReplaced = "identity.told"
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
        case .identityReplaced: .identityReplaced
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

/// An event's place in the log of its application: 1, 2, 3 … without gaps.
public struct LogPosition: Hashable, Comparable, Sendable {
    /// Counted from one; zero is the place before the first event.
    public let number: Int64

    /// The place with that number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The place before the first event.
    public static let start = LogPosition(0)

    /// The earlier place comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.number < right.number
    }
}

/// A distributed trace that a request was part of (W3C Trace Context): what comes of the request is told in
/// the same one (X5).
public struct Trace: Hashable, Sendable {
    /// 16 bytes in lower-case hexadecimal digits, not all of them zero.
    public let id: String
    /// What holds of the whole trace, a bit each: 1 that it is kept, 2 that its id is random.
    public let flags: UInt8

    /// A trace as a caller names it; other flags mean nothing yet and are not passed on
    /// (Trace Context level 2, §3.2.2.5.3).
    public init(id: String, flags: UInt8) {
        self.id = id
        self.flags = flags & 3
    }
}
