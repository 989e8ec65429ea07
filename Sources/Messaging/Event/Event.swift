/// The payload of an event: all values that are needed to apply its change again.
///
/// Each case of ``Event`` has one payload type. Each layer has a protocol that refines this one, so that the
/// compiler names the layers that do not handle a new event yet.
public protocol EventPayload: Equatable, Sendable {
    /// The type of the event.
    var type: EventType { get }
    /// The author of the change, if the event itself names one; otherwise the actor of the request is recorded.
    var author: EventActor? { get }
    /// The conversations that the event changed, or whose messages it changed; by default none.
    var namedConversations: [Conversation.ID] { get }
    /// The users that the event names besides its actor; by default none.
    var namedUsers: [UserID] { get }
}

extension EventPayload {
    /// `nil`: by default an event names no author.
    public var author: EventActor? { nil }

    /// By default an event names no conversation.
    public var namedConversations: [Conversation.ID] { [] }

    /// By default an event names no user.
    public var namedUsers: [UserID] { [] }
}

/// The public type of an event (X3), which the event log stores too.
///
/// It equals the name of the event in webhooks of version 1.0, if there is one. Raw values never change once released.
public enum EventType: String, CaseIterable, Sendable {
    case applicationCreated = "application.created"
    case applicationRenamed = "application.renamed"
    case applicationSuspended = "application.suspended"
    case sessionLifetimeSet = "session_lifetime.set"
    case tokenCreated = "token.created"
    case tokenRevoked = "token.revoked"
    case providerCreated = "provider.created"
    case providerDeleted = "provider.deleted"
    case providerKeyCreated = "provider_key.created"
    case providerKeyUpdated = "provider_key.updated"
    case providerKeyDeleted = "provider_key.deleted"
    case identityReplaced = "identity.told"
    case identityPatched = "identity.patched"
    case identityDeleted = "identity.deleted"
    case followingChanged = "following.changed"
    case blocksChanged = "blocks.changed"
    case badgeSet = "badge.set"
    case userSuspended = "user.suspended"
    case sessionCreated = "session.created"
    case sessionEnded = "session.ended"
    case sessionsEnded = "sessions.ended"
    case conversationCreated = "conversation.created"
    case conversationMatched = "conversation.matched"
    case conversationMerged = "conversation.merged"
    case conversationShown = "conversation.shown"
    case conversationAnnounced = "conversation.announced"
    case conversationHidden = "conversation.hidden"
    case participantsChanged = "conversation.updated.participants"
    case participantErased = "participant.erased"
    case metadataChanged = "conversation.updated.metadata"
    case conversationDeleted = "conversation.deleted"
    case messageSent = "message.sent"
    case messageDelivered = "message.delivered"
    case messageRead = "message.read"
    case messageUpdated = "message.updated"
    case messageDeleted = "message.deleted"
    case messageHidden = "message.hidden"
    case messageErased = "message.erased"
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
    case announcementErased = "announcement.erased"
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

/// A change to an application's data. All rows can be rebuilt from the events.
///
/// The switches over all events here, in `StoredEvent.swift` and in `EventJSON.swift` have no `default`, so that the
/// compiler finds the places that must handle a new event. Those of the feeds have one, because users see only some
/// events.
public enum Event: Equatable, Sendable {
    case applicationCreated(ApplicationCreated)
    case applicationRenamed(ApplicationRenamed)
    case applicationSuspended(ApplicationSuspended)
    case sessionLifetimeSet(SessionLifetimeSet)
    case tokenCreated(TokenCreated)
    case tokenRevoked(TokenRevoked)
    case providerCreated(ProviderCreated)
    case providerDeleted(ProviderDeleted)
    case providerKeyCreated(ProviderKeyCreated)
    case providerKeyUpdated(ProviderKeyUpdated)
    case providerKeyDeleted(ProviderKeyDeleted)
    case identityReplaced(IdentityReplaced)
    case identityPatched(IdentityPatched)
    case identityDeleted(IdentityDeleted)
    case followingChanged(FollowingChanged)
    case blocksChanged(BlocksChanged)
    case badgeSet(BadgeSet)
    case userSuspended(UserSuspended)
    case sessionCreated(SessionCreated)
    case sessionEnded(SessionEnded)
    case sessionsEnded(SessionsEnded)
    case conversationCreated(ConversationCreated)
    case conversationMatched(ConversationMatched)
    case conversationMerged(ConversationMerged)
    case conversationShown(ConversationShown)
    case conversationAnnounced(ConversationAnnounced)
    case conversationHidden(ConversationHidden)
    case participantsChanged(ParticipantsChanged)
    case participantErased(ParticipantErased)
    case metadataChanged(MetadataChanged)
    case conversationDeleted(ConversationDeleted)
    case messageSent(MessageSent)
    case receiptsRecorded(ReceiptsRecorded)
    case partsChanged(PartsChanged)
    case messageDeleted(MessageDeleted)
    case messageHidden(MessageHidden)
    case messageErased(MessageErased)
    case messageScheduled(MessageScheduled)
    case scheduleEnded(ScheduleEnded)
    case batchAccepted(BatchAccepted)
    case contentUploaded(ContentUploaded)
    case contentOwned(ContentOwned)
    case contentWithdrawn(ContentWithdrawn)
    case contentsErased(ContentsErased)
    case announcementSent(AnnouncementSent)
    case announcementReceived(AnnouncementReceived)
    case announcementDeleted(AnnouncementDeleted)
    case announcementErased(AnnouncementErased)
    case notificationSent(NotificationSent)
    case exportKeyChanged(ExportKeyChanged)
    case exportScheduleChanged(ExportScheduleChanged)
    case exportRequested(ExportRequested)
    case exportStarted(ExportStarted)
    case exportCompleted(ExportCompleted)
    case exportDeleted(ExportDeleted)
    case exportExpired(ExportExpired)
    case exportErased(ExportErased)
    case recordImported(RecordImported)
    case webhookCreated(WebhookCreated)
    case webhookUpdated(WebhookUpdated)
    case webhookSecretRotated(WebhookSecretRotated)
    case webhookDeleted(WebhookDeleted)

    /// The payload of the event.
    public var payload: any EventPayload {
        switch self {
        case .applicationCreated(let payload): payload
        case .applicationRenamed(let payload): payload
        case .applicationSuspended(let payload): payload
        case .sessionLifetimeSet(let payload): payload
        case .tokenCreated(let payload): payload
        case .tokenRevoked(let payload): payload
        case .providerCreated(let payload): payload
        case .providerDeleted(let payload): payload
        case .providerKeyCreated(let payload): payload
        case .providerKeyUpdated(let payload): payload
        case .providerKeyDeleted(let payload): payload
        case .identityReplaced(let payload): payload
        case .identityPatched(let payload): payload
        case .identityDeleted(let payload): payload
        case .followingChanged(let payload): payload
        case .blocksChanged(let payload): payload
        case .badgeSet(let payload): payload
        case .userSuspended(let payload): payload
        case .sessionCreated(let payload): payload
        case .sessionEnded(let payload): payload
        case .sessionsEnded(let payload): payload
        case .conversationCreated(let payload): payload
        case .conversationMatched(let payload): payload
        case .conversationMerged(let payload): payload
        case .conversationShown(let payload): payload
        case .conversationAnnounced(let payload): payload
        case .conversationHidden(let payload): payload
        case .participantsChanged(let payload): payload
        case .participantErased(let payload): payload
        case .metadataChanged(let payload): payload
        case .conversationDeleted(let payload): payload
        case .messageSent(let payload): payload
        case .receiptsRecorded(let payload): payload
        case .partsChanged(let payload): payload
        case .messageDeleted(let payload): payload
        case .messageHidden(let payload): payload
        case .messageErased(let payload): payload
        case .messageScheduled(let payload): payload
        case .scheduleEnded(let payload): payload
        case .batchAccepted(let payload): payload
        case .contentUploaded(let payload): payload
        case .contentOwned(let payload): payload
        case .contentWithdrawn(let payload): payload
        case .contentsErased(let payload): payload
        case .announcementSent(let payload): payload
        case .announcementReceived(let payload): payload
        case .announcementDeleted(let payload): payload
        case .announcementErased(let payload): payload
        case .notificationSent(let payload): payload
        case .exportKeyChanged(let payload): payload
        case .exportScheduleChanged(let payload): payload
        case .exportRequested(let payload): payload
        case .exportStarted(let payload): payload
        case .exportCompleted(let payload): payload
        case .exportDeleted(let payload): payload
        case .exportExpired(let payload): payload
        case .exportErased(let payload): payload
        case .recordImported(let payload): payload
        case .webhookCreated(let payload): payload
        case .webhookUpdated(let payload): payload
        case .webhookSecretRotated(let payload): payload
        case .webhookDeleted(let payload): payload
        }
    }

    /// The type of the event.
    public var type: EventType { payload.type }

    /// The author of the change, if the event itself names one.
    public var author: EventActor? { payload.author }
}
