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
        case .conversationMerged: "conversation.merged"
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
        case .identityReplaced: "identity.told"
        case .identityPatched: "identity.patched"
        case .identityDeleted: "identity.deleted"
        case .followingChanged: "following.changed"
        case .badgeSet: "badge.set"
        case .userSuspended: "user.suspended"
        case .sessionsEnded: "sessions.ended"
        case .sessionLifetimeSet: "session_lifetime.set"
        case .messageScheduled: "message.scheduled"
        case .scheduleEnded: "schedule.ended"
        case .batchAccepted: "batch.accepted"
        case .contentOwned: "content.owned"
        case .contentsErased: "contents.erased"
        case .messageRemoved: "message.removed"
        case .conversationRemoved: "conversation.removed"
        case .recordImported: "record.imported"
        case .webhookCreated: "webhook.created"
        case .webhookUpdated: "webhook.updated"
        case .webhookSecretRotated: "webhook.secret_rotated"
        case .webhookDeleted: "webhook.deleted"
        }
    }
}

extension Event {
    /// The names in the log of what readers call so, in the order of their letters.
    static func kinds(of types: Set<EventType>) -> [String] {
        Set(types.flatMap(\.kinds)).sorted()
    }
}

extension EventType {
    /// The log has one name for both receipts, its own for what webhooks name, and another one for
    /// deletions that say what was deleted.
    fileprivate var kinds: [String] {
        switch self {
        case .messageDelivered, .messageRead: ["receipts.recorded"]
        case .messageUpdated: ["parts.changed"]
        case .participantsChanged: ["participants.changed"]
        case .metadataChanged: ["metadata.changed"]
        case .messageDeleted: [rawValue, "message.removed"]
        case .conversationDeleted: [rawValue, "conversation.removed"]
        default: [rawValue]
        }
    }
}

extension Event {
    /// The first byte of a payload; another one will say that fields were added.
    static let payloadForm: UInt8 = 1

    /// Everything needed to make the rows again, in the form of ``ByteWriter``.
    var payload: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .applicationCreated(let application):
            application.write(to: &writer)
        case .applicationSuspended(let id, let isSuspended):
            writer.write(id)
            writer.write(isSuspended)
        case .tokenCreated(let token, let digest):
            token.write(to: &writer)
            writer.write(digest)
        case .tokenRevoked(let id, let moment):
            writer.write(id)
            writer.write(moment)
        case .identityNamed(let identity):
            identity.write(to: &writer)
        case .conversationCreated(let created):
            created.conversation.write(to: &writer)
            writer.write(optional: created.key) { writer, key in writer.write(key) }
        case .conversationMatched(let match):
            writer.write(match.conversation)
            writer.write(optional: match.key) { writer, key in writer.write(key) }
            writer.write(optional: match.alias) { writer, alias in writer.write(alias) }
        case .conversationMerged(let merge):
            merge.write(to: &writer)
        case .conversationShown(let shown):
            shown.write(to: &writer)
        case .conversationAnnounced(let id, let moment):
            writer.write(id)
            writer.write(moment)
        case .conversationHidden(let hidden):
            hidden.write(to: &writer)
        case .participantsChanged(let change):
            writer.write(change.conversation)
            writer.write(change.participants)
            writer.write(each: change.added) { writer, user in writer.write(user) }
            writer.write(each: change.removed) { writer, user in writer.write(user) }
            writer.write(change.after)
            writer.write(change.at)
        case .metadataChanged(let change):
            writer.write(change.conversation)
            change.writes.write(to: &writer)
            writer.write(change.at)
        case .conversationDeleted(let id, let moment):
            writer.write(id)
            writer.write(moment)
        case .messageSent(let sent):
            sent.message.write(to: &writer)
            writer.write(optional: sent.notification) { writer, json in writer.write(json) }
            writer.write(optional: sent.key) { writer, key in writer.write(key) }
        case .messageDeleted(let id, let conversation, let position):
            writer.write(id)
            writer.write(conversation)
            writer.write(position)
        case .messageHidden(let hidden):
            hidden.write(to: &writer)
        case .receiptsRecorded(let receipts):
            writer.write(receipts.conversation)
            writer.write(receipts.user)
            writer.write(receipts.kind.rawValue)
            writer.write(receipts.positions.text)
            writer.write(receipts.at)
        case .contentUploaded(let content):
            content.write(to: &writer)
        case .contentWithdrawn(let id):
            writer.write(id)
        case .blocksChanged(let change):
            change.write(to: &writer)
        case .announcementSent(let sent):
            sent.write(to: &writer)
        case .announcementReceived(let received):
            received.write(to: &writer)
        case .announcementDeleted(let id, let user, let moment):
            writer.write(id)
            writer.write(user)
            writer.write(moment)
        case .notificationSent(let sent):
            sent.write(to: &writer)
        case .partsChanged(let change):
            change.write(to: &writer)
        case .exportKeyChanged(let key):
            writer.write(key.pem)
            writer.write(key.der)
        case .exportRequested(let export, let schedule):
            export.write(to: &writer)
            writer.write(optional: schedule) { writer, schedule in schedule.write(to: &writer) }
        case .exportStarted(let id, let moment), .exportDeleted(let id, let moment),
            .exportExpired(let id, let moment):
            writer.write(id)
            writer.write(moment)
        case .exportCompleted(let id, let archive, let moment):
            writer.write(id)
            archive.write(to: &writer)
            writer.write(moment)
        case .exportErased(let id):
            writer.write(id)
        case .exportScheduleChanged(let schedule):
            schedule.write(to: &writer)
        case .identityReplaced(let identity):
            identity.write(to: &writer)
        case .identityPatched(let change):
            change.write(to: &writer)
        case .identityDeleted(let user):
            writer.write(user)
        case .followingChanged(let change):
            change.write(to: &writer)
        case .badgeSet(let user, let count):
            writer.write(user)
            writer.write(count)
        case .userSuspended(let user, let isSuspended, let moment):
            writer.write(user)
            writer.write(isSuspended)
            writer.write(moment)
        case .sessionsEnded(let user, let moment):
            writer.write(user)
            writer.write(moment)
        case .sessionLifetimeSet(let seconds):
            writer.write(seconds)
        case .messageScheduled(let scheduled):
            scheduled.message.write(to: &writer)
            writer.write(optional: scheduled.key) { writer, key in writer.write(key) }
        case .scheduleEnded(let id, let isSent, let moment):
            writer.write(id)
            writer.write(isSent)
            writer.write(moment)
        case .batchAccepted(let key, let conversation):
            writer.write(key)
            writer.write(conversation)
        case .contentOwned(let id, let user):
            writer.write(id)
            writer.write(user)
        case .contentsErased(let ids):
            writer.write(each: ids) { writer, id in writer.write(id) }
        case .messageRemoved(let removed):
            removed.write(to: &writer)
        case .conversationRemoved(let removed):
            removed.conversation.write(to: &writer)
            writer.write(removed.at)
        case .recordImported(let record):
            record.write(to: &writer)
        case .webhookCreated(let webhook), .webhookUpdated(let webhook),
            .webhookDeleted(let webhook):
            webhook.write(to: &writer)
        case .webhookSecretRotated(let webhook, let moment):
            webhook.write(to: &writer)
            writer.write(moment)
        }
        return [Self.payloadForm] + writer.bytes
    }
}

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
            .identityReplaced(try Identity(from: &reader))
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
            .recordImported(try ArchiveRecord(from: &reader))
        case "webhook.created":
            .webhookCreated(try WebhookSummary(from: &reader))
        case "webhook.updated":
            .webhookUpdated(try WebhookSummary(from: &reader))
        case "webhook.secret_rotated":
            .webhookSecretRotated(
                try WebhookSummary(from: &reader), formerUntil: try reader.timestamp())
        case "webhook.deleted":
            .webhookDeleted(try WebhookSummary(from: &reader))
        default:
            throw StoreFault.unreadable("event \(kind)")
        }
    }
}
