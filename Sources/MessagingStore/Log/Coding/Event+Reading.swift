import Messaging

extension Event {
    /// Reads an event of the log.
    ///
    /// - Throws: ``StoreFault`` for a kind or a form this release does not know.
    init(kind: String, payload: [UInt8]) throws {
        var reader = ByteReader(payload)
        let form = try reader.byte()
        guard form == Self.payloadForm else { throw StoreFault.unreadable("form \(form)") }
        self = try Self.read(kind, &reader)
        try reader.finish()
    }

    private static func read(_ kind: String, _ reader: inout ByteReader) throws -> Event {
        switch kind {
        case "application.created":
            .applicationCreated(try Application(from: &reader))
        case "application.suspended":
            .applicationSuspended(try reader.id(), try reader.flag())
        case "token.created":
            .tokenCreated(try Token(from: &reader), digest: try reader.bytes())
        case "token.revoked":
            .tokenRevoked(try reader.id(), at: try reader.timestamp())
        case "identity.named":
            .identityNamed(try BasicIdentity(from: &reader))
        case "conversation.created":
            .conversationCreated(
                ConversationCreated(
                    conversation: try Conversation(from: &reader),
                    key: try reader.optional { reader in try reader.id() }))
        case "conversation.matched":
            .conversationMatched(
                ConversationMatched(
                    conversation: try reader.id(),
                    key: try reader.optional { reader in try reader.id() },
                    alias: try reader.optional { reader in try reader.id() }))
        case "conversation.merged":
            .conversationMerged(try ConversationMerged(from: &reader))
        case "conversation.shown":
            .conversationShown(try ConversationShown(from: &reader))
        case "conversation.announced":
            .conversationAnnounced(try reader.id(), at: try reader.timestamp())
        case "conversation.hidden":
            .conversationHidden(try ConversationHidden(from: &reader))
        case "participants.changed":
            .participantsChanged(
                ParticipantsChanged(
                    conversation: try reader.id(), participants: try reader.participants(),
                    added: try reader.each { reader in try reader.user() },
                    removed: try reader.each { reader in try reader.user() },
                    after: try reader.position(), at: try reader.timestamp()))
        case "metadata.changed":
            .metadataChanged(
                MetadataChanged(
                    conversation: try reader.id(), writes: try Metadata(from: &reader),
                    at: try reader.timestamp()))
        case "conversation.deleted":
            .conversationDeleted(try reader.id(), at: try reader.timestamp())
        case "message.sent":
            .messageSent(
                MessageSent(
                    message: try Message(from: &reader),
                    notification: try reader.optional { reader in try reader.bytes() },
                    key: try reader.optional { reader in try reader.id() }))
        case "message.deleted":
            .messageDeleted(try reader.id(), in: try reader.id(), at: try reader.position())
        case "message.hidden":
            .messageHidden(try MessageHidden(from: &reader))
        case "receipts.recorded":
            .receiptsRecorded(
                ReceiptsRecorded(
                    conversation: try reader.id(), user: try reader.user(),
                    kind: try reader.legal(
                        Receipts.Kind(rawValue: try reader.text()), "kind of a receipt"),
                    positions: try reader.legal(
                        IntervalSet(text: try reader.text()), "positions of a receipt"),
                    at: try reader.timestamp()))
        case "content.uploaded":
            .contentUploaded(try Content(from: &reader))
        case "content.withdrawn":
            .contentWithdrawn(try reader.id())
        case "blocks.changed":
            .blocksChanged(try BlocksChanged(from: &reader))
        case "announcement.sent":
            .announcementSent(try AnnouncementSent(from: &reader))
        case "announcement.received":
            .announcementReceived(try AnnouncementReceived(from: &reader))
        case "announcement.deleted":
            .announcementDeleted(
                try reader.id(), for: try reader.user(), at: try reader.timestamp())
        case "notification.sent":
            .notificationSent(try NotificationSent(from: &reader))
        case "parts.changed":
            .partsChanged(try PartsChanged(from: &reader))
        case "export.key_changed":
            .exportKeyChanged(ExportKey(pem: try reader.text(), der: try reader.bytes()))
        case "export.requested":
            .exportRequested(
                try Export(from: &reader),
                try reader.optional { reader in try ExportSchedule(from: &reader) })
        case "export.started":
            .exportStarted(try reader.id(), at: try reader.timestamp())
        case "export.completed":
            .exportCompleted(
                try reader.id(), try Export.Archive(from: &reader), at: try reader.timestamp())
        case "export.deleted":
            .exportDeleted(try reader.id(), at: try reader.timestamp())
        case "export.expired":
            .exportExpired(try reader.id(), at: try reader.timestamp())
        case "export.erased":
            .exportErased(try reader.id())
        case "export.schedule_changed":
            .exportScheduleChanged(try ExportSchedule(from: &reader))
        case "identity.told":
            .identityTold(try Identity(from: &reader))
        case "identity.patched":
            .identityPatched(try IdentityPatched(from: &reader))
        case "identity.deleted":
            .identityDeleted(try reader.user())
        case "following.changed":
            .followingChanged(try FollowingChanged(from: &reader))
        case "badge.set":
            .badgeSet(try reader.user(), externalUnreadCount: try reader.number())
        case "user.suspended":
            .userSuspended(try reader.user(), try reader.flag(), at: try reader.timestamp())
        case "sessions.ended":
            .sessionsEnded(try reader.user(), at: try reader.timestamp())
        case "session_lifetime.set":
            .sessionLifetimeSet(seconds: try reader.number())
        case "message.scheduled":
            .messageScheduled(
                MessageScheduled(
                    message: try ScheduledMessage(from: &reader),
                    key: try reader.optional { reader in try reader.id() }))
        case "schedule.ended":
            .scheduleEnded(
                try reader.id(), isSent: try reader.flag(), at: try reader.timestamp())
        case "batch.accepted":
            .batchAccepted(try reader.id(), in: try reader.id())
        case "content.owned":
            .contentOwned(try reader.id(), by: try reader.user())
        case "contents.erased":
            .contentsErased(try reader.each { reader in try reader.id() })
        case "message.removed":
            .messageRemoved(try MessageRemoved(from: &reader))
        case "conversation.removed":
            .conversationRemoved(
                ConversationRemoved(
                    conversation: try Conversation(from: &reader), at: try reader.timestamp()))
        case "record.imported":
            .recordImported(try MovedRecord(from: &reader))
        case "webhook.created":
            .webhookCreated(try ShownWebhook(from: &reader))
        case "webhook.updated":
            .webhookUpdated(try ShownWebhook(from: &reader))
        case "webhook.secret_rotated":
            .webhookSecretRotated(
                try ShownWebhook(from: &reader), formerUntil: try reader.timestamp())
        case "webhook.deleted":
            .webhookDeleted(try ShownWebhook(from: &reader))
        default:
            throw StoreFault.unreadable("event \(kind)")
        }
    }
}
