import Messaging

extension Event {
    /// The id of what it happened to.
    func subject(in links: LinkBuilder) -> String {
        switch self {
        case .applicationCreated, .applicationSuspended, .sessionLifetimeSet, .notificationSent,
            .exportKeyChanged, .exportScheduleChanged, .contentsErased:
            links.applicationID
        case .tokenCreated(let token, _): "\(links.applicationID)/tokens/\(token.id)"
        case .tokenRevoked(let id, _): "\(links.applicationID)/tokens/\(id)"
        case .identityNamed(let identity): UserIDJSON.text(identity: identity.userID)
        case .identityTold(let identity): UserIDJSON.text(identity: identity.userID)
        case .identityPatched(let change): UserIDJSON.text(identity: change.user)
        case .identityDeleted(let user), .badgeSet(let user, _), .userSuspended(let user, _, _),
            .sessionsEnded(let user, _):
            UserIDJSON.text(identity: user)
        case .followingChanged(let change): UserIDJSON.text(identity: change.follower)
        case .blocksChanged(let change): UserIDJSON.text(identity: change.owner)
        case .conversationCreated(let created): Self.name(created.conversation.id)
        case .conversationMatched(let match): Self.name(match.conversation)
        case .conversationMerged(let merge): Self.name(merge.winner)
        case .conversationShown(let shown): Self.name(shown.conversation)
        case .conversationAnnounced(let id, _), .conversationDeleted(let id, _),
            .batchAccepted(_, let id):
            Self.name(id)
        case .conversationHidden(let hidden): Self.name(hidden.conversation)
        case .participantsChanged(let change): Self.name(change.conversation)
        case .metadataChanged(let change): Self.name(change.conversation)
        // Whose state it changes: one participant's, over many messages.
        case .receiptsRecorded(let receipts): Self.name(receipts.conversation)
        case .messageSent(let sent): IdentifierJSON.text(sent.message.id, in: .messages)
        case .messageDeleted(let id, _, _), .scheduleEnded(let id, _, _):
            IdentifierJSON.text(id, in: .messages)
        case .messageRemoved(let removed): IdentifierJSON.text(removed.message.id, in: .messages)
        case .conversationRemoved(let removed): Self.name(removed.conversation.id)
        case .messageHidden(let hidden): IdentifierJSON.text(hidden.message, in: .messages)
        case .messageScheduled(let scheduled):
            IdentifierJSON.text(scheduled.message.id, in: .messages)
        case .partsChanged(let change): IdentifierJSON.text(change.message, in: .messages)
        case .contentUploaded(let content): IdentifierJSON.text(content.id, in: .content)
        case .contentWithdrawn(let id), .contentOwned(let id, _):
            IdentifierJSON.text(id, in: .content)
        case .announcementSent(let sent):
            IdentifierJSON.text(sent.announcement.id, in: .announcements)
        case .announcementReceived(let received):
            IdentifierJSON.text(received.announcement, in: .announcements)
        case .announcementDeleted(let id, _, _): IdentifierJSON.text(id, in: .announcements)
        case .recordImported(let record): Self.name(record, links)
        case .exportRequested(let export, _): IdentifierJSON.text(export.id, in: .exports)
        case .exportStarted(let id, _), .exportCompleted(let id, _, _), .exportDeleted(let id, _),
            .exportExpired(let id, _), .exportErased(let id):
            IdentifierJSON.text(id, in: .exports)
        case .webhookCreated(let webhook), .webhookUpdated(let webhook),
            .webhookSecretRotated(let webhook, _), .webhookDeleted(let webhook):
            links.webhookID(webhook.id)
        }
    }

    private static func name(_ record: MovedRecord, _ links: LinkBuilder) -> String {
        switch record {
        case .user(let moved): UserIDJSON.text(identity: moved.user.id)
        case .relations(let moved): UserIDJSON.text(identity: moved.user)
        case .conversation(let moved): name(moved.conversation.id)
        case .message(let moved): IdentifierJSON.text(moved.message.id, in: .messages)
        case .scheduled(let moved): IdentifierJSON.text(moved.message.id, in: .messages)
        case .content(let moved): IdentifierJSON.text(moved.content.id, in: .content)
        case .announcement(let moved):
            IdentifierJSON.text(moved.announcement.id, in: .announcements)
        // A key is nothing that has a name of its own.
        case .key, .application: links.applicationID
        }
    }

    private static func name(_ id: Conversation.ID) -> String {
        IdentifierJSON.text(id, in: .conversations)
    }
}
