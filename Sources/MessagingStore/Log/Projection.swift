import Messaging
import SQL

/// Applies events to the rows. Nothing else writes them.
///
/// The result depends only on the event and the rows, so all rows can be rebuilt by applying the log to an
/// empty database. The rows of webhooks are an exception: they hold secrets, which the log must not, because
/// many may read it and it is stored for long.
struct Projection {
    let transaction: Transaction
    let application: Application.ID
    let hash: @Sendable ([UInt8]) -> [UInt8]
    /// The position of the event.
    let position: LogPosition
    /// When the event was recorded.
    let moment: Timestamp
    /// The recipients of the event's message, if they were already loaded.
    var recipientViews: [RecipientView]?
    /// The trace of the event; `nil` for none.
    var trace: Trace?

    /// Applies the next event of the log.
    func apply(_ event: Event) throws {
        switch event {
        case .applicationCreated(let application): try create(application)
        case .applicationSuspended(let id, let isSuspended): try suspend(id, isSuspended)
        case .tokenCreated(let token, let digest): try create(token, digest)
        case .tokenRevoked(let id, let moment): try revoke(id, at: moment)
        case .identityNamed(let identity): try name(identity)
        case .conversationCreated(let created): try create(created)
        case .conversationMatched(let match): try remember(match)
        case .conversationMerged(let merged): try merge(merged)
        case .conversationShown(let shown): try show(shown)
        case .conversationAnnounced(let id, _): try announce(id)
        case .conversationHidden(let hidden): try hide(hidden)
        case .participantsChanged(let change): try apply(change)
        case .metadataChanged(let change): try apply(change)
        case .conversationDeleted(let id, let moment): try delete(id, at: moment)
        case .messageSent(let sent): try send(sent)
        case .messageDeleted(let id, let conversation, let position):
            try delete(id, in: conversation, at: position)
        case .messageHidden(let hidden): try hide(hidden)
        case .receiptsRecorded(let receipts): try record(receipts)
        case .contentUploaded(let content): try keep(content)
        case .contentWithdrawn(let id): try dropUnlessUsed(id)
        case .blocksChanged(let change): try apply(change)
        case .announcementSent(let sent): try announce(sent)
        case .announcementReceived(let received): try record(received)
        case .announcementDeleted(let id, let user, let moment):
            try delete(id, for: user, at: moment)
        case .notificationSent(let sent): try notify(sent)
        case .partsChanged(let change): try apply(change)
        case .exportKeyChanged(let key): try keep(key)
        case .exportRequested(let export, let schedule): try request(export, schedule)
        case .exportStarted(let id, let moment): try start(id, at: moment)
        case .exportCompleted(let id, let archive, let moment):
            try complete(id, archive, at: moment)
        case .exportDeleted(let id, let moment): try delete(id, at: moment)
        case .exportExpired(let id, let moment): try expire(id, at: moment)
        case .exportErased(let id): try erase(id)
        case .exportScheduleChanged(let schedule): try keep(schedule)
        case .identityReplaced(let identity): try tell(identity)
        case .identityPatched(let change): try apply(change)
        case .identityDeleted(let user): try deleteIdentity(of: user)
        case .followingChanged(let change): try apply(change)
        case .badgeSet(let user, let count): try setBadge(of: user, to: count)
        case .userSuspended(let user, let isSuspended, let moment):
            try suspend(user, isSuspended, at: moment)
        case .sessionsEnded(let user, let moment): try endSessions(of: user, at: moment)
        case .sessionLifetimeSet(let seconds): try setSessionLifetime(seconds)
        case .messageScheduled(let scheduled): try keep(scheduled)
        case .scheduleEnded(let id, _, _): try dropScheduled(id)
        case .batchAccepted(let key, let conversation):
            remember(key, as: .batch, for: conversation.bytes)
        case .contentOwned(let id, let user): try own(id, user)
        case .contentsErased(let ids): try erase(ids)
        case .messageRemoved(let removed):
            let message = removed.message
            keep(message)
            try remember(deleted: message)
            try delete(message.id, in: message.conversation, at: message.position)
        case .conversationRemoved(let removed):
            try delete(removed.conversation.id, at: removed.at)
        case .recordImported(let record): try bring(record)
        // The rows of webhooks are written by the mutation that records these.
        case .webhookCreated, .webhookUpdated, .webhookSecretRotated, .webhookDeleted: break
        }
    }

    /// Stores what was created with a key.
    func remember(_ key: Replay.Key?, as kind: Replay.Kind, for object: [UInt8]) {
        guard let key else { return }
        transaction.add(
            "(\(application), \(kind.rawValue), \(key), \(object))",
            to: "replay_keys", key: application.bytes + key.bytes,
            by: Insertion(
                "INSERT INTO replay_keys (application, kind, replay_key, object) VALUES",
                "ON CONFLICT (application, kind, replay_key) DO NOTHING"))
    }
}

extension Transaction {
    /// The id of the object that was created with a key; `nil` while the key is unused.
    func object(
        createdWith key: Replay.Key, as kind: Replay.Kind, in application: Application.ID
    ) throws -> [UInt8]? {
        try askObject(createdWith: key, as: kind, in: application).first()
    }

    /// Sends the same query without waiting for its rows.
    func askObject(
        createdWith key: Replay.Key, as kind: Replay.Kind, in application: Application.ID
    ) throws -> DeferredRows<[UInt8]> {
        try ask(
            """
            SELECT object FROM replay_keys
            WHERE application = \(application) AND kind = \(kind.rawValue)
                AND replay_key = \(key)
            """
        ) { row in try row.blob(0) }
    }
}
