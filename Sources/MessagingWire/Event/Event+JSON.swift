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
        if case .identityReplaced(let identity) = event {
            IdentityJSON.write(identity, links, into: &writer)
        } else if case .identityNamed(let identity) = event {
            BasicIdentityJSON.write(identity, presentation.version, links, into: &writer)
        } else if case .contentUploaded(let content) = event {
            ContentJSON(id: content.id, size: content.size, in: content.conversation)
                .write(links, presentation.sign(content.id), into: &writer)
        } else if case .recordImported(let record) = event {
            ArchiveLineJSON.write(record, into: &writer)
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
            .identityReplaced, .identityNamed, .recordImported:
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

// What an event has changed; nothing where something new is all there is to tell.
extension EventJSON {
    func writeChanges(into writer: inout JSONWriter) {
        switch event {
        case .applicationSuspended(_, let isSuspended), .userSuspended(_, let isSuspended, _):
            writer.member("suspended", isSuspended)
        case .tokenRevoked(_, let moment):
            writer.member("revoked_at", TimestampJSON.text(moment))
        case .sessionLifetimeSet(let seconds):
            writer.member("session_ttl_in_seconds", seconds)
        case .identityPatched(let change): write(change.patches, into: &writer)
        case .followingChanged(let change):
            write("following", change.added, change.removed, into: &writer)
        case .blocksChanged(let change):
            write("blocks", change.added, change.removed, into: &writer)
        case .badgeSet(_, let count): writer.member("external_unread_count", count)
        case .conversationMatched(let match):
            if let alias = match.alias {
                writer.member("alias", IdentifierJSON.text(alias, in: .conversations))
            }
        case .conversationMerged(let merge): write(merge, into: &writer)
        case .conversationShown(let shown): names("shown_to", shown.users, into: &writer)
        case .conversationHidden(let hidden):
            names("hidden_from", [hidden.user], into: &writer)
            if let place = hidden.upTo {
                writer.key("through")
                PositionJSON.write(place, into: &writer)
            }
        case .participantsChanged(let change):
            write(change, into: &writer)
        case .metadataChanged(let change): write(change.writes, into: &writer)
        case .receiptsRecorded(let receipts): write(receipts, into: &writer)
        case .partsChanged(let change): write(change, into: &writer)
        case .messageHidden(let hidden): names("hidden_from", [hidden.user], into: &writer)
        case .scheduleEnded(_, let isSent, _): writer.member("sent", isSent)
        case .contentOwned(_, let user):
            writer.member("owner", UserIDJSON.text(identity: user))
        case .announcementReceived(let received):
            writer.key("recipient_status")
            writer.object { writer in
                writer.key(UserIDJSON.text(identity: received.user))
                writer.string(received.kind.status.rawValue)
            }
        case .announcementDeleted(_, let user, _):
            names("hidden_from", [user], into: &writer)
        case .exportScheduleChanged(let schedule):
            writer.member("interval", schedule.interval.rawValue)
            writer.key("events")
            writer.array { writer in
                for topic in schedule.topics { writer.string(WebhookTopicJSON.text(topic, .v1_0)) }
            }
        case .webhookUpdated(let webhook): WebhookJSON.write(webhook.status, into: &writer)
        case .webhookSecretRotated(_, let moment):
            writer.member("former_secret_until", TimestampJSON.text(moment))
        case .applicationCreated, .tokenCreated, .identityNamed, .identityReplaced,
            .identityDeleted,
            .sessionsEnded, .conversationCreated, .conversationAnnounced, .conversationDeleted,
            .messageSent, .messageDeleted, .messageScheduled, .batchAccepted, .contentUploaded,
            .contentWithdrawn, .contentsErased, .announcementSent, .notificationSent,
            .exportKeyChanged, .exportRequested, .exportStarted, .exportCompleted, .exportDeleted,
            .exportExpired, .exportErased, .messageRemoved, .conversationRemoved, .recordImported,
            .webhookCreated, .webhookDeleted:
            break
        }
    }

    private func write(
        _ member: StaticString, _ added: [UserID], _ removed: [UserID],
        into writer: inout JSONWriter
    ) {
        writer.key(member)
        writer.object { writer in
            names("added", added, into: &writer)
            names("removed", removed, into: &writer)
        }
    }

    /// A `set` may move participants that stay, which additions and removals do not tell: the order that
    /// results stands beside them (rulings 28).
    private func write(_ change: ParticipantsChanged, into writer: inout JSONWriter) {
        writer.key("participants")
        writer.object { writer in
            names("added", change.added, into: &writer)
            names("removed", change.removed, into: &writer)
            names("order", change.participants.users, into: &writer)
        }
    }

    /// The message's status of one user, and the messages: intervals of positions, both ends in them.
    private func write(_ receipts: ReceiptsRecorded, into writer: inout JSONWriter) {
        writer.key("recipient_status")
        writer.object { writer in
            writer.key(UserIDJSON.text(identity: receipts.user))
            writer.string(receipts.kind.status.rawValue)
        }
        writer.key("positions")
        writer.array { writer in
            for interval in receipts.positions.intervals {
                writer.object { writer in
                    writer.key("from")
                    PositionJSON.write(Position(interval.lowerBound), into: &writer)
                    writer.key("to")
                    PositionJSON.write(Position(interval.upperBound), into: &writer)
                }
            }
        }
    }

    private func write(_ change: PartsChanged, into writer: inout JSONWriter) {
        let message = IdentifierJSON.text(change.message, in: .messages)
        let lists: [(StaticString, [MessagePart.ID])] = [
            ("created", change.created.map(\.id)), ("updated", change.updated.map(\.id)),
            ("deleted", change.removed.map(\.id)),
        ]
        writer.key("parts")
        writer.object { writer in
            for (name, ids) in lists {
                writer.key(name)
                writer.array { writer in
                    for id in ids { writer.string("\(message)/parts/\(id)") }
                }
            }
        }
    }

    // MARK: - Operations, in the words of patches

    /// Applied in order to what was there, they make what is there now.
    private func write(_ writes: Metadata, into writer: inout JSONWriter) {
        writer.key("operations")
        writer.array { writer in
            for (path, write) in writes.writes {
                let property = (["metadata"] + path).joined(separator: ".")
                switch write.value {
                case .deleted: operation("delete", property, into: &writer)
                case .object: operation("set", property, .object([]), into: &writer)
                case .text(let text): operation("set", property, .text(text), into: &writer)
                }
            }
        }
    }

    private func write(_ patches: [IdentityPatch], into writer: inout JSONWriter) {
        writer.key("operations")
        writer.array { writer in
            for patch in patches {
                switch patch {
                case .set(let member, let text):
                    operation("set", member.rawValue, .text(text), into: &writer)
                case .setKind(let kind):
                    operation("set", "identity_type", .text(kind.rawValue), into: &writer)
                case .setMetadata(let texts):
                    let members = texts.sorted { $0.key < $1.key }.map { key, text in
                        MetadataTree.Member(key: key, value: .text(text))
                    }
                    operation("set", "metadata", .object(members), into: &writer)
                case .setMetadataKey(let key, let text):
                    operation("set", "metadata.\(key)", .text(text), into: &writer)
                case .deleteMetadataKey(let key):
                    operation("delete", "metadata.\(key)", into: &writer)
                }
            }
        }
    }

    private func operation(
        _ name: String, _ property: String, _ value: MetadataTree? = nil,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("operation", name)
            writer.member("property", property)
            guard let value else { return }
            writer.key("value")
            MetadataJSON.write(value, into: &writer)
        }
    }
}

extension Receipts.Kind {
    /// What it makes of a message.
    fileprivate var status: RecipientStatus {
        switch self {
        case .delivery: .delivered
        case .read: .read
        }
    }
}

// What a merging has changed (X1.5).
extension EventJSON {
    /// The ids that lead to the winner since, its metadata as a whole, and where messages went that
    /// stand elsewhere now: one of the place p in `from` … `to` stands at p − `from` + `moved_to`.
    func write(_ merge: ConversationMerged, into writer: inout JSONWriter) {
        writer.key("aliases")
        writer.array { writer in
            for alias in merge.aliases { name(alias, into: &writer) }
        }
        writer.key("operations")
        writer.array { writer in
            writer.object { writer in
                writer.member("operation", "set")
                writer.member("property", "metadata")
                writer.key("value")
                MetadataJSON.write(merge.metadata.view, into: &writer)
            }
        }
        writer.key("messages")
        writer.array { writer in
            for stretch in merge.relocations
            where stretch.conversation != merge.winner || !stretch.isStanding {
                write(stretch, into: &writer)
            }
        }
    }

    private func write(_ stretch: Relocation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("conversation")
            name(stretch.conversation, into: &writer)
            let places: [(StaticString, Position)] = [
                ("from", stretch.from), ("to", stretch.through), ("moved_to", stretch.to),
            ]
            for (name, place) in places {
                writer.key(name)
                PositionJSON.write(place, into: &writer)
            }
        }
    }

    private func name(_ id: Conversation.ID, into writer: inout JSONWriter) {
        writer.string(IdentifierJSON.text(id, in: .conversations))
    }
}

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
        case .identityReplaced(let identity): UserIDJSON.text(identity: identity.userID)
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

    private static func name(_ record: ArchiveRecord, _ links: LinkBuilder) -> String {
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
