import Messaging

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
        case .identityTold(let identity):
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
