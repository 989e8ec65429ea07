import Messaging

/// A payload of an event as the store needs it: its encoding, its effect on the rows, and what readers of the log see.
protocol StoredEvent: EventPayload {
    /// Writes everything that is needed to apply the event again.
    func write(to writer: inout ByteWriter)
    /// Reads what ``write(to:)`` wrote.
    init(from reader: inout ByteReader) throws
    /// Applies the event to the rows.
    func apply(to rows: Projection) throws
    /// The objects whose cached messages may look different after the event.
    ///
    /// Sending a message changes no earlier one. Every other event that changes a conversation or its messages
    /// invalidates all of them, whether they look different or not.
    func invalidated(in application: Application.ID) -> [InvalidationSubject]
    /// Adds the objects that ``object(at:_:)`` and ``addWebhookEvents(of:to:)`` will read, so that they are loaded
    /// together; by default none. An object that is left out costs a statement.
    func collect(into objects: inout ReferencedObjects)
    /// The object that the JSON of the event shows, in its state right after the event; by default none.
    func object(
        at position: LogPosition, _ history: inout ObjectHistory
    ) throws -> ResolvedEvent.Object
    /// Adds the webhook events of the event; by default none (webhooks §4.2).
    func addWebhookEvents(
        of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws
}

extension StoredEvent {
    func collect(into objects: inout ReferencedObjects) {}

    func object(
        at position: LogPosition, _ history: inout ObjectHistory
    ) throws -> ResolvedEvent.Object { .none }

    func addWebhookEvents(
        of event: ResolvedEvent, to builder: inout WebhookEventBuilder
    ) throws {}
}

/// A change of a message, which the JSON of the event shows in its state right after it.
protocol MessageChange: StoredEvent {
    var message: Message.ID { get }
    var conversation: Conversation.ID { get }
}

extension MessageChange {
    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.conversations.insert(conversation)
        objects.messages.insert(message)
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        guard let found = try history.message(message, at: position) else { return .none }
        return .message(try history.snapshot(of: found, at: position))
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        guard case .message(let snapshot) = event.object else { return }
        try builder.add(.messageUpdated, .message(snapshot), event)
    }
}

/// The objects that a page of events refers to, to be loaded together.
struct ReferencedObjects {
    var users: Set<UserID> = []
    var conversations: Set<Conversation.ID> = []
    var messages: Set<Message.ID> = []
}

extension Event {
    /// The first byte of an encoded event; a release that adds fields to events will write another one.
    fileprivate static let encodingVersion: UInt8 = 1

    /// The payload of the event.
    var stored: any StoredEvent {
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

    /// Decodes an event of the log.
    ///
    /// - Parameter replacement: The user whose id is replaced by another; `nil` for none.
    /// - Throws: ``StoreFault`` for a type or a version that this release does not have.
    init(type: String, encoded: [UInt8], replacing replacement: UserReplacement? = nil) throws {
        guard let known = EventType(rawValue: type) else {
            throw StoreFault.unreadable("event \(type)")
        }
        var reader = ByteReader(encoded, replacing: replacement)
        let version = try reader.byte()
        guard version == Self.encodingVersion else {
            throw StoreFault.unreadable("encoding version \(version) of an event")
        }
        self = try Self.read(known, &reader)
        try reader.finish()
    }

    private static func read(_ type: EventType, _ reader: inout ByteReader) throws -> Event {
        switch type {
        case .applicationCreated: .applicationCreated(try ApplicationCreated(from: &reader))
        case .applicationRenamed:
            .applicationRenamed(try ApplicationRenamed(from: &reader))
        case .applicationSuspended: .applicationSuspended(try ApplicationSuspended(from: &reader))
        case .sessionLifetimeSet: .sessionLifetimeSet(try SessionLifetimeSet(from: &reader))
        case .tokenCreated: .tokenCreated(try TokenCreated(from: &reader))
        case .tokenRevoked: .tokenRevoked(try TokenRevoked(from: &reader))
        case .providerCreated: .providerCreated(try ProviderCreated(from: &reader))
        case .providerDeleted: .providerDeleted(try ProviderDeleted(from: &reader))
        case .providerKeyCreated: .providerKeyCreated(try ProviderKeyCreated(from: &reader))
        case .providerKeyUpdated: .providerKeyUpdated(try ProviderKeyUpdated(from: &reader))
        case .providerKeyDeleted: .providerKeyDeleted(try ProviderKeyDeleted(from: &reader))
        case .identityReplaced: .identityReplaced(try IdentityReplaced(from: &reader))
        case .identityPatched: .identityPatched(try IdentityPatched(from: &reader))
        case .identityDeleted: .identityDeleted(try IdentityDeleted(from: &reader))
        case .followingChanged: .followingChanged(try FollowingChanged(from: &reader))
        case .blocksChanged: .blocksChanged(try BlocksChanged(from: &reader))
        case .badgeSet: .badgeSet(try BadgeSet(from: &reader))
        case .userSuspended: .userSuspended(try UserSuspended(from: &reader))
        case .sessionCreated: .sessionCreated(try SessionCreated(from: &reader))
        case .sessionEnded: .sessionEnded(try SessionEnded(from: &reader))
        case .sessionsEnded: .sessionsEnded(try SessionsEnded(from: &reader))
        case .conversationCreated: .conversationCreated(try ConversationCreated(from: &reader))
        case .conversationMatched: .conversationMatched(try ConversationMatched(from: &reader))
        case .conversationMerged: .conversationMerged(try ConversationMerged(from: &reader))
        case .conversationShown: .conversationShown(try ConversationShown(from: &reader))
        case .conversationAnnounced:
            .conversationAnnounced(try ConversationAnnounced(from: &reader))
        case .conversationHidden: .conversationHidden(try ConversationHidden(from: &reader))
        case .participantsChanged: .participantsChanged(try ParticipantsChanged(from: &reader))
        case .participantErased: .participantErased(try ParticipantErased(from: &reader))
        case .metadataChanged: .metadataChanged(try MetadataChanged(from: &reader))
        case .conversationDeleted: .conversationDeleted(try ConversationDeleted(from: &reader))
        case .messageSent: .messageSent(try MessageSent(from: &reader))
        case .messageDelivered, .messageRead:
            .receiptsRecorded(try ReceiptsRecorded(from: &reader))
        case .messageUpdated: .partsChanged(try PartsChanged(from: &reader))
        case .messageDeleted: .messageDeleted(try MessageDeleted(from: &reader))
        case .messageHidden: .messageHidden(try MessageHidden(from: &reader))
        case .messageErased: .messageErased(try MessageErased(from: &reader))
        case .messageScheduled: .messageScheduled(try MessageScheduled(from: &reader))
        case .scheduleEnded: .scheduleEnded(try ScheduleEnded(from: &reader))
        case .batchAccepted: .batchAccepted(try BatchAccepted(from: &reader))
        case .contentUploaded: .contentUploaded(try ContentUploaded(from: &reader))
        case .contentOwned: .contentOwned(try ContentOwned(from: &reader))
        case .contentWithdrawn: .contentWithdrawn(try ContentWithdrawn(from: &reader))
        case .contentsErased: .contentsErased(try ContentsErased(from: &reader))
        case .announcementSent: .announcementSent(try AnnouncementSent(from: &reader))
        case .announcementReceived: .announcementReceived(try AnnouncementReceived(from: &reader))
        case .announcementDeleted: .announcementDeleted(try AnnouncementDeleted(from: &reader))
        case .announcementErased: .announcementErased(try AnnouncementErased(from: &reader))
        case .notificationSent: .notificationSent(try NotificationSent(from: &reader))
        case .exportKeyChanged: .exportKeyChanged(try ExportKeyChanged(from: &reader))
        case .exportScheduleChanged:
            .exportScheduleChanged(try ExportScheduleChanged(from: &reader))
        case .exportRequested: .exportRequested(try ExportRequested(from: &reader))
        case .exportStarted: .exportStarted(try ExportStarted(from: &reader))
        case .exportCompleted: .exportCompleted(try ExportCompleted(from: &reader))
        case .exportDeleted: .exportDeleted(try ExportDeleted(from: &reader))
        case .exportExpired: .exportExpired(try ExportExpired(from: &reader))
        case .exportErased: .exportErased(try ExportErased(from: &reader))
        case .recordImported: .recordImported(try RecordImported(from: &reader))
        case .webhookCreated: .webhookCreated(try WebhookCreated(from: &reader))
        case .webhookUpdated: .webhookUpdated(try WebhookUpdated(from: &reader))
        case .webhookSecretRotated: .webhookSecretRotated(try WebhookSecretRotated(from: &reader))
        case .webhookDeleted: .webhookDeleted(try WebhookDeleted(from: &reader))
        }
    }
}

extension StoredEvent {
    /// The encoded event: the version, then the fields.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(byte: Event.encodingVersion)
        write(to: &writer)
        return writer.bytes
    }
}
