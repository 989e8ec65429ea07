import JSON
import Messaging

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
                for topic in schedule.topics { writer.string(TopicJSON.text(topic, .v1_0)) }
            }
        case .webhookUpdated(let webhook): WebhookJSON.write(webhook.status, into: &writer)
        case .webhookSecretRotated(_, let moment):
            writer.member("former_secret_until", TimestampJSON.text(moment))
        case .applicationCreated, .tokenCreated, .identityNamed, .identityTold, .identityDeleted,
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
