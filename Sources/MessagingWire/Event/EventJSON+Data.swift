import JSON
import Messaging

// What it happened to: the object as 3.0 shows it, or its name and where it belongs.
extension EventJSON {
    func writeData(_ presentation: Presentation, into writer: inout JSONWriter) {
        let links = presentation.links
        switch object {
        case .message(let message): return message.write(presentation, into: &writer)
        case .conversation(let conversation):
            return conversation.write(presentation, into: &writer)
        case .identity(let identity): return IdentityJSON.write(identity, links, into: &writer)
        case .sender, .none: break
        }
        if case .identityTold(let identity) = event {
            IdentityJSON.write(identity, links, into: &writer)
        } else if case .identityNamed(let identity) = event {
            BasicIdentityJSON.write(identity, presentation.version, links, into: &writer)
        } else if case .contentUploaded(let content) = event {
            ContentJSON(id: content.id, size: content.size, in: content.conversation)
                .write(links, presentation.sign(content.id), into: &writer)
        } else if case .recordImported(let record) = event {
            MovedLineJSON.write(record, into: &writer)
        } else if case .announcementSent(let sent) = event {
            write(sent, presentation, into: &writer)
        } else {
            writer.object { writer in writeNames(links, into: &writer) }
        }
    }

    private func writeNames(_ links: LinkBuilder, into writer: inout JSONWriter) {
        switch event {
        case .applicationCreated(let application):
            writer.member("id", links.applicationID)
            writer.member("name", application.name)
            writer.member("created_at", TimestampJSON.text(application.createdAt))
        case .tokenCreated(let token, _):
            writer.member("id", event.subject(in: links))
            writer.member("scope", token.scope.rawValue)
            writer.member("created_at", TimestampJSON.text(token.createdAt))
            writer.member("expires_at", token.expiresAt.map(TimestampJSON.text))
        case .identityPatched(let change): name(change.user, links, into: &writer)
        case .identityDeleted(let user), .badgeSet(let user, _), .userSuspended(let user, _, _),
            .sessionsEnded(let user, _):
            name(user, links, into: &writer)
        case .followingChanged(let change): name(change.follower, links, into: &writer)
        case .blocksChanged(let change): name(change.owner, links, into: &writer)
        case .conversationCreated(let created): name(created.conversation.id, links, into: &writer)
        case .conversationMatched(let match): name(match.conversation, links, into: &writer)
        case .conversationMerged(let merge): name(merge.winner, links, into: &writer)
        case .conversationShown(let shown): name(shown.conversation, links, into: &writer)
        case .conversationAnnounced(let id, _), .conversationDeleted(let id, _),
            .batchAccepted(_, let id):
            name(id, links, into: &writer)
        case .conversationHidden(let hidden): name(hidden.conversation, links, into: &writer)
        case .participantsChanged(let change): name(change.conversation, links, into: &writer)
        case .metadataChanged(let change): name(change.conversation, links, into: &writer)
        case .receiptsRecorded(let receipts): name(receipts.conversation, links, into: &writer)
        case .messageSent(let sent):
            name(sent.message.id, sent.message.conversation, links, into: &writer)
        case .messageDeleted(let id, let conversation, let position):
            name(id, conversation, links, into: &writer)
            writer.key("position")
            PositionJSON.write(position, into: &writer)
        case .messageRemoved(let removed):
            name(removed.message.id, removed.message.conversation, links, into: &writer)
            writer.key("position")
            PositionJSON.write(removed.message.position, into: &writer)
        case .conversationRemoved(let removed):
            name(removed.conversation.id, links, into: &writer)
        case .messageHidden(let hidden):
            name(hidden.message, hidden.conversation, links, into: &writer)
            writer.key("position")
            PositionJSON.write(hidden.position, into: &writer)
        case .messageScheduled(let scheduled):
            name(scheduled.message.id, scheduled.message.conversation, links, into: &writer)
            writer.member("due_at", TimestampJSON.text(scheduled.message.dueAt))
        case .partsChanged(let change):
            name(change.message, change.conversation, links, into: &writer)
        case .notificationSent(let sent):
            names("recipients", sent.recipients, into: &writer)
            writer.member("notification", raw: sent.notification)
        case .contentsErased(let ids):
            writer.key("contents")
            writer.array { writer in
                for id in ids { writer.string(IdentifierJSON.text(id, in: .content)) }
            }
        case .exportRequested(let export, _):
            writer.member("id", event.subject(in: links))
            writer.member("created_at", TimestampJSON.text(export.createdAt))
            writer.member("status_url", links.status(of: export.id))
        case .exportStarted(let id, _), .exportCompleted(let id, _, _), .exportDeleted(let id, _),
            .exportExpired(let id, _), .exportErased(let id):
            writer.member("id", event.subject(in: links))
            writer.member("status_url", links.status(of: id))
        case .webhookCreated(let webhook), .webhookUpdated(let webhook),
            .webhookSecretRotated(let webhook, _), .webhookDeleted(let webhook):
            WebhookJSON.writeMembers(webhook, links, into: &writer)
        case .applicationSuspended, .tokenRevoked, .sessionLifetimeSet, .contentWithdrawn,
            .contentOwned, .announcementReceived, .announcementDeleted, .scheduleEnded,
            .exportKeyChanged, .exportScheduleChanged, .contentUploaded, .announcementSent,
            .identityTold, .identityNamed, .recordImported:
            writer.member("id", event.subject(in: links))
        }
    }

    private func write(
        _ sent: AnnouncementSent, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        var sender: BasicIdentity?
        if case .sender(let identity) = object { sender = identity }
        AnnouncementJSON(
            sent.announcement, sender: sender, perspective: .system(recipients: sent.recipients)
        ).write(presentation, into: &writer)
    }

    private func name(_ user: UserID, _ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", UserIDJSON.text(identity: user))
        writer.member("url", links.identity(user))
        writer.member("user_id", user.text)
    }

    private func name(
        _ id: Conversation.ID, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.member("id", IdentifierJSON.text(id, in: .conversations))
        writer.member("url", links.conversation(id))
    }

    private func name(
        _ id: Message.ID, _ conversation: Conversation.ID, _ links: LinkBuilder,
        into writer: inout JSONWriter
    ) {
        writer.member("id", IdentifierJSON.text(id, in: .messages))
        writer.member("url", links.message(id, in: conversation))
        writer.key("conversation")
        writer.object { writer in name(conversation, links, into: &writer) }
    }

    /// Users by their identity ids.
    func names(
        _ member: StaticString, _ users: [UserID], into writer: inout JSONWriter
    ) {
        writer.key(member)
        writer.array { writer in
            for user in users { writer.string(UserIDJSON.text(identity: user)) }
        }
    }
}
