public import Messaging

/// An event as a line that a person reads: when, of what kind, who did what.
///
/// `2026-05-02T14:34:27Z Sync: User ana created a message in conversation 0d9f….`
///
/// One line whatever users call themselves: what is not printable in a name is written as `\u{a}`.
public enum EventLogLine {
    /// What an event is about, in one word.
    enum Category: String {
        case access = "Access"
        case identity = "Identity"
        case sync = "Sync"
        case content = "Content"
        case push = "Push"
        case export = "Export"
        case webhook = "Webhook"
    }

    /// The line, without an end.
    ///
    /// - Parameter actor: Who did it; `nil` for the server itself.
    public static func text(_ event: Event, by actor: EventActor?, at moment: Timestamp) -> String {
        // Of the time on the wire all but the fraction.
        let time = TimestampJSON.text(moment).dropLast(5)
        return "\(time)Z \(event.logCategory.rawValue): \(name(of: actor)) \(event.deed)."
    }

    private static func name(of actor: EventActor?) -> String {
        switch actor {
        case .user(let user): "User \(printable(user.text))"
        case .named(let name): "Service \(printable(name))"
        case .token(let id): "Token \(id)"
        case nil: "The server"
        }
    }

    /// A text that cannot leave its line, or change how the rest of it is shown.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { !isPrintable($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            if isPrintable(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            false
        default: scalar != "\\"
        }
    }
}

extension Event {
    /// What its line says was done, from the verb on.
    var deed: String {
        switch self {
        case .applicationCreated(let application):
            "created application \(application.id), \(EventLogLine.printable(application.name))"
        case .applicationSuspended(let id, let isSuspended):
            isSuspended ? "suspended application \(id)" : "set application \(id) free"
        case .tokenCreated(let token, _):
            "created token \(token.id) with scope \(token.scope.rawValue)"
        case .tokenRevoked(let id, _): "revoked token \(id)"
        case .sessionLifetimeSet(let seconds): "set the life of new sessions to \(seconds) seconds"
        case .identityNamed(let identity): "named \(Self.user(identity.userID))"
        case .identityReplaced(let identity): "told who \(Self.user(identity.userID)) is"
        case .identityPatched(let change): "changed the identity of \(Self.user(change.user))"
        case .identityDeleted(let user): "deleted the identity of \(Self.user(user))"
        case .followingChanged(let change):
            "followed \(Self.count(change.added, "user")) and unfollowed \(change.removed.count)"
        case .blocksChanged(let change):
            "blocked \(Self.count(change.added, "user")) for \(Self.user(change.owner)) and "
                + "lifted \(Self.count(change.removed, "block"))"
        case .badgeSet(let user, let count):
            "set the external unread count of \(Self.user(user)) to \(count)"
        case .userSuspended(let user, let isSuspended, _):
            isSuspended ? "suspended \(Self.user(user))" : "set \(Self.user(user)) free"
        case .sessionsEnded(let user, _): "ended all sessions of \(Self.user(user))"
        case .conversationCreated(let created):
            "created conversation \(created.conversation.id) with "
                + Self.count(created.conversation.participants.users, "participant")
        case .conversationMatched(let match):
            "asked for conversation \(match.conversation), which exists"
                + (match.alias.map { alias in ", as \(alias)" } ?? "")
        case .conversationMerged(let merge):
            merge.loser.map { loser in "merged conversation \(loser) into \(merge.winner)" }
                ?? "put conversation \(merge.winner) in order"
        case .conversationShown(let shown):
            "brought conversation \(shown.conversation) into the view of "
                + Self.count(shown.users, "user")
        case .conversationAnnounced(let id, _):
            "brought conversation \(id) into the view of all its participants"
        case .conversationHidden(let hidden):
            "deleted conversation \(hidden.conversation) for himself"
        case .participantsChanged(let change):
            "added \(Self.count(change.added, "participant")) to conversation "
                + "\(change.conversation) and removed \(change.removed.count)"
        case .metadataChanged(let change):
            "changed the metadata of conversation \(change.conversation)"
        case .conversationDeleted(let id, _): "deleted conversation \(id)"
        case .messageSent(let sent):
            "created a message in conversation \(sent.message.conversation)"
        case .messageDeleted(let id, let conversation, _):
            "deleted message \(id) in conversation \(conversation)"
        case .conversationRemoved(let removed): "deleted conversation \(removed.conversation.id)"
        case .messageRemoved(let removed):
            "deleted message \(removed.message.id) in conversation "
                + "\(removed.message.conversation)"
        case .messageHidden(let hidden):
            "deleted message \(hidden.message) in conversation \(hidden.conversation) for himself"
        case .messageScheduled(let scheduled):
            "scheduled message \(scheduled.message.id) in conversation "
                + "\(scheduled.message.conversation)"
        case .scheduleEnded(let id, let isSent, _):
            "\(isSent ? "sent" : "dropped") scheduled message \(id)"
        case .batchAccepted(_, let conversation):
            "accepted a batch of messages in conversation \(conversation)"
        case .partsChanged(let change):
            "created \(change.created.count), updated \(change.updated.count) and deleted "
                + "\(change.removed.count) parts of message \(change.message) in conversation "
                + "\(change.conversation)"
        case .receiptsRecorded(let receipts): Self.deed(receipts)
        case .contentUploaded(let content): "uploaded content \(content.id), \(content.size) bytes"
        case .contentOwned(let id, _): "owns content \(id)"
        case .contentWithdrawn(let id): "took content \(id) back"
        case .contentsErased(let ids): "erased the bytes of \(Self.count(ids, "content"))"
        case .announcementSent(let sent):
            "made announcement \(sent.announcement.id) to \(Self.count(sent.recipients, "user"))"
        case .announcementReceived(let received):
            "\(received.kind == .read ? "read" : "received") announcement \(received.announcement)"
        case .announcementDeleted(let id, _, _): "deleted announcement \(id) for himself"
        case .notificationSent(let sent): "notified \(Self.count(sent.recipients, "user"))"
        case .recordImported(let record): "imported \(Self.name(of: record))"
        case .exportKeyChanged: "set the key of exports"
        case .exportScheduleChanged(let schedule):
            "set the schedule of exports to \(schedule.interval.rawValue)"
        case .exportRequested(let export, _): "asked for export \(export.id)"
        case .exportStarted(let id, _): "began export \(id)"
        case .exportCompleted(let id, let archive, _):
            "completed export \(id), \(archive.size) bytes"
        case .exportDeleted(let id, _): "deleted export \(id)"
        case .exportExpired(let id, _): "let export \(id) expire"
        case .exportErased(let id): "erased the archive of export \(id)"
        case .webhookCreated(let webhook):
            // A query may be what the receiver knows its callers by.
            "created webhook \(webhook.id) to "
                + EventLogLine.printable(String(webhook.target.prefix { $0 != "?" }))
        case .webhookUpdated(let webhook): Self.deed(webhook)
        case .webhookSecretRotated(let webhook, _): "replaced the secret of webhook \(webhook.id)"
        case .webhookDeleted(let webhook): "deleted webhook \(webhook.id)"
        }
    }

    private static func deed(_ receipts: ReceiptsRecorded) -> String {
        let verb = receipts.kind == .read ? "read" : "received"
        let last = Position(receipts.positions.intervals.last?.upperBound ?? 0)
        return "\(verb) messages up to position \(PositionJSON.number(last)) in conversation "
            + "\(receipts.conversation)"
    }

    private static func deed(_ webhook: WebhookSummary) -> String {
        switch webhook.status {
        case .unverified: "had the target of webhook \(webhook.id) asked again"
        case .active: "activated webhook \(webhook.id)"
        case .inactive(let reason):
            "deactivated webhook \(webhook.id), \(EventLogLine.printable(reason))"
        }
    }

    /// What its line is filed under.
    var logCategory: EventLogLine.Category {
        switch self {
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .sessionLifetimeSet, .sessionsEnded, .userSuspended:
            .access
        case .identityNamed, .identityReplaced, .identityPatched, .identityDeleted,
            .followingChanged,
            .blocksChanged:
            .identity
        case .conversationCreated, .conversationMatched, .conversationMerged, .conversationShown,
            .conversationAnnounced, .conversationHidden, .participantsChanged, .metadataChanged,
            .conversationDeleted, .messageSent, .messageDeleted, .messageHidden, .messageScheduled,
            .scheduleEnded, .batchAccepted, .partsChanged, .receiptsRecorded, .announcementSent,
            .announcementReceived, .announcementDeleted, .messageRemoved, .conversationRemoved,
            .recordImported:
            .sync
        case .contentUploaded, .contentOwned, .contentWithdrawn, .contentsErased: .content
        case .notificationSent, .badgeSet: .push
        case .exportKeyChanged, .exportScheduleChanged, .exportRequested, .exportStarted,
            .exportCompleted, .exportDeleted, .exportExpired, .exportErased:
            .export
        case .webhookCreated, .webhookUpdated, .webhookSecretRotated, .webhookDeleted: .webhook
        }
    }

    private static func name(of record: ArchiveRecord) -> String {
        switch record {
        case .application(let application):
            "the name \(EventLogLine.printable(application.name))"
        case .user(let moved): user(moved.user.id)
        case .relations(let moved): "whom \(user(moved.user)) follows and blocks"
        case .conversation(let moved): "conversation \(moved.conversation.id)"
        case .message(let moved): "message \(moved.message.id)"
        case .scheduled(let moved): "scheduled message \(moved.message.id)"
        case .content(let moved): "content \(moved.content.id)"
        case .announcement(let moved): "announcement \(moved.announcement.id)"
        case .key(let moved): "key \(moved.key)"
        }
    }

    private static func user(_ user: UserID) -> String {
        "user \(EventLogLine.printable(user.text))"
    }

    private static func count<Element>(_ list: [Element], _ noun: String) -> String {
        "\(list.count) \(noun)\(list.count == 1 ? "" : "s")"
    }
}
