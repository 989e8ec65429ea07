import Bytes
import JSON
public import Messaging

/// The body of a packet that reports a change to a user (client-api §5.4, §5.5).
public struct ChangeJSON: Sendable {
    /// The type of the packet.
    public enum PacketType: String, Sendable {
        case change, operation
    }

    /// The type of the packet.
    public let type: PacketType
    /// The JSON of the body.
    public let body: [UInt8]

    /// Returns the packets that report a change to a user in a version, in order.
    public static func packets(
        _ operation: UserChange.Operation, for user: UserID, _ presentation: Presentation
    ) -> [ChangeJSON] {
        let packets = ChangePackets(user: user, presentation: presentation)
        return packets.packets(operation)
    }

    /// Returns the body that reports the presence of another user (client-api §5.8), which is also an element of the
    /// answer to `Presence.sync`.
    public static func presence(_ presence: Presence, _ presentation: Presentation) -> [UInt8] {
        ChangePackets(user: presence.user, presentation: presentation).presence(presence)
    }

    /// A packet whose body is known.
    public init(_ type: PacketType, _ body: [UInt8]) {
        self.type = type
        self.body = body
    }
}

/// Writes the packets for one user in one version.
private struct ChangePackets {
    let user: UserID
    let presentation: Presentation

    private var version: APIVersion { presentation.version }
    private var links: LinkBuilder { presentation.links }

    private func conversation(_ id: Conversation.ID) -> NamedObjectJSON { .conversation(id, links) }

    private func message(_ id: Message.ID) -> NamedObjectJSON {
        NamedObjectJSON(
            type: "Message", id: IdentifierJSON.text(id, in: .messages),
            url: links.shortMessage(id))
    }

    private func part(_ id: MessagePart.ID, of message: Message) -> NamedObjectJSON {
        let name = "\(message.id.uuid)/parts/\(id.uuid)"
        return NamedObjectJSON(
            type: "MessagePart", id: "layer:///messages/\(name)",
            url: links.messages(in: message.conversation) + name)
    }

    private func announcement(_ id: Announcement.ID) -> NamedObjectJSON {
        NamedObjectJSON(
            type: "Announcement", id: IdentifierJSON.text(id, in: .announcements),
            url: links.announcement(id))
    }

    private func identity(_ user: UserID) -> NamedObjectJSON { .identity(user, links) }

    func packets(_ operation: UserChange.Operation) -> [ChangeJSON] {
        switch operation {
        case .conversationCreated(let view):
            return [
                change("create", conversation(view.id)) { writer in
                    ConversationJSON(view).write(presentation, into: &writer)
                }
            ]
        case .conversationCleared(let id, let position):
            return [deletion(of: conversation(id), forAll: false, through: .some(position))]
        case .conversationDeleted(let id, let isForAll):
            return [deletion(of: conversation(id), forAll: isForAll, through: .some(nil))]
        case .participants(let id, let added, let removed):
            return [participants(id, added, removed)]
        case .metadata(let id, let writes):
            return [
                update(conversation(id)) { writer in writer.operations(of: writes) }
            ]
        case .counts(let id, let last, let unread): return [counts(id, last, unread)]
        case .messageCreated(let snapshot):
            return [
                change("create", message(snapshot.message.id)) { writer in
                    MessageJSON(snapshot).write(presentation, into: &writer)
                }
            ]
        case .messageStatus(let id, let user, let status, let isOwn):
            return [self.status(message(id), user, status, isOwn: isOwn)]
        case .markedAllRead(let id, let position, let reader, let messages, let isOwn):
            guard version.namesIdentities else {
                return messages.map { id in
                    status(message(id), reader.userID, .read, isOwn: isOwn)
                }
            }
            return [markedAllRead(id, position, reader)]
        case .parts(let snapshot, let changed): return parts(snapshot.message, changed)
        case .messageErased(let snapshot): return [erased(snapshot)]
        case .messageDeleted(let id, let isForAll):
            return [deletion(of: message(id), forAll: isForAll, through: nil)]
        case .announcementCreated(let announcement, let sender, let status):
            return [
                change("create", self.announcement(announcement.id)) { writer in
                    AnnouncementJSON(
                        announcement, sender: sender, recipients: .viewer(user, status)
                    ).write(presentation, into: &writer)
                }
            ]
        case .announcementStatus(let id, let status):
            return [self.status(announcement(id), user, status, isOwn: true)]
        case .announcementDeleted(let id):
            return [change("delete", announcement(id)) { writer in writer.object { _ in } }]
        case .identityCreated, .identityChanged, .identityDeleted:
            return version.namesIdentities ? [identity(operation)].compactMap(\.self) : []
        }
    }

    private func identity(_ operation: UserChange.Operation) -> ChangeJSON? {
        switch operation {
        case .identityCreated(let identity):
            return change("create", self.identity(identity.userID)) { writer in
                IdentityJSON.write(identity, links, into: &writer)
            }
        case .identityChanged(let identity):
            var whole = JSONWriter()
            IdentityJSON.write(identity, links, into: &whole)
            return setting(
                self.identity(identity.userID), whole.finish(), besides: ["id", "url", "user_id"])
        case .identityDeleted(let user):
            return change("delete", identity(user)) { writer in writer.null() }
        default: return nil
        }
    }

    func presence(_ presence: Presence) -> [UInt8] {
        update(identity(presence.user)) { writer in
            writer.set("presence.status") { $0.string(presence.status.rawValue) }
            writer.set("presence.last_seen_at") { writer in
                TimestampJSON.write(presence.lastSeenAt, into: &writer)
            }
        }.body
    }

    // MARK: - Parts of packets

    private func change(
        _ operation: StaticString, _ object: NamedObjectJSON, _ data: (inout JSONWriter) -> Void
    ) -> ChangeJSON {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            writer.member("operation", operation.description)
            writer.key("object")
            object.write(into: &writer)
            writer.key("data")
            data(&writer)
        }
        return ChangeJSON(.change, writer.finish())
    }

    /// A change of members; the first web SDK has another name for it (inferred).
    private func update(
        _ object: NamedObjectJSON, _ operations: (inout JSONWriter) -> Void
    ) -> ChangeJSON {
        change(version.namesIdentities ? "update" : "patch", object) { writer in
            writer.array { writer in operations(&writer) }
        }
    }

    /// An update that sets the members of an object.
    private func setting(
        _ object: NamedObjectJSON, _ json: [UInt8], besides names: Set<String>
    ) -> ChangeJSON? {
        guard let root = try? JSONDocument(json).root else { return nil }
        return update(object) { writer in
            for (name, value) in root.members where !names.contains(name) {
                writer.set(name) { $0.raw(value.raw) }
            }
        }
    }

    /// - Parameter position: What `from_position` is; `nil` for an object without that member.
    private func deletion(
        of object: NamedObjectJSON, forAll isForAll: Bool, through position: Position??
    ) -> ChangeJSON {
        change("delete", object) { writer in
            writer.object { writer in
                writer.member("mode", isForAll ? "all_participants" : "my_devices")
                guard let position else { return }
                writer.key("from_position")
                if let position {
                    PositionJSON.write(position, into: &writer)
                } else {
                    writer.null()
                }
            }
        }
    }

    private func participants(
        _ id: Conversation.ID, _ added: [BasicIdentity], _ removed: [UserID]
    ) -> ChangeJSON {
        update(conversation(id)) { writer in
            for identity in added {
                writer.object { writer in
                    writer.member("operation", "add")
                    writer.member("property", "participants")
                    if version.namesIdentities {
                        writer.member("id", UserIDJSON.text(identity: identity.userID))
                    }
                    writer.key("value")
                    BasicIdentityJSON.write(identity, version, links, into: &writer)
                }
            }
            for user in removed {
                writer.object { writer in
                    writer.member("operation", "remove")
                    writer.member("property", "participants")
                    if version.namesIdentities {
                        writer.member("id", UserIDJSON.text(identity: user))
                    } else {
                        writer.member("value", user.text)
                    }
                }
            }
            writer.set("distinct") { $0.bool(false) }
        }
    }

    private func counts(
        _ id: Conversation.ID, _ last: Message.ID?, _ unread: Int64
    ) -> ChangeJSON {
        update(conversation(id)) { writer in
            if let last {
                writer.object { writer in
                    writer.member("operation", "set")
                    writer.member("property", "last_message")
                    writer.member("id", IdentifierJSON.text(last, in: .messages))
                }
            } else {
                writer.set("last_message") { $0.null() }
            }
            writer.set("unread_message_count") { $0.integer(unread) }
        }
    }

    private func status(
        _ object: NamedObjectJSON, _ user: UserID, _ status: RecipientStatus, isOwn: Bool
    ) -> ChangeJSON {
        // A dot would begin the name of a member below (client-api §5.4).
        let name = UserIDJSON.text(user, version).replacing(".", with: "\\.")
        return update(object) { writer in
            writer.set("recipient_status.\(name)") { $0.string(status.rawValue) }
            if isOwn, status == .read { writer.set("is_unread") { $0.bool(false) } }
        }
    }

    private func markedAllRead(
        _ id: Conversation.ID, _ position: Position, _ reader: BasicIdentity
    ) -> ChangeJSON {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("method", "Conversation.mark_all_read")
            writer.key("object")
            conversation(id).write(into: &writer)
            writer.key("data")
            writer.object { writer in
                writer.key("position")
                PositionJSON.write(position, into: &writer)
                writer.key("identity")
                BasicIdentityJSON.write(reader, version, links, into: &writer)
            }
        }
        return ChangeJSON(.operation, writer.finish())
    }

    /// The members that erasing the sender of a message changes.
    private func erased(_ snapshot: MessageSnapshot) -> ChangeJSON {
        update(message(snapshot.message.id)) { writer in
            writer.set("parts") { writer in
                MessagePartsJSON.write(
                    snapshot.message.parts, of: snapshot.message, presentation, into: &writer)
            }
            writer.set("sender") { writer in
                BasicIdentityJSON.write(
                    sender: snapshot.message.sender, snapshot.sender, version, links, into: &writer)
            }
        }
    }

    /// Versions before 3.0 have no packets of parts; a new order is sent as the whole list.
    private func parts(_ message: Message, _ changed: PartsChanged) -> [ChangeJSON] {
        let list = { () -> ChangeJSON in
            update(self.message(message.id)) { writer in
                writer.set("parts") { writer in
                    MessagePartsJSON.write(message.parts, of: message, presentation, into: &writer)
                }
            }
        }
        guard version == .v3_0 else { return [list()] }
        let current = Dictionary(message.parts.map { ($0.id, $0) }) { first, _ in first }
        var packets: [ChangeJSON] = []
        for part in changed.created.compactMap({ current[$0.id] }) {
            packets.append(
                change("create", self.part(part.id, of: message)) { writer in
                    MessagePartsJSON.write(part, of: message, presentation, into: &writer)
                })
        }
        for part in changed.updated.compactMap({ current[$0.id] }) {
            var whole = JSONWriter()
            MessagePartsJSON.write(part, of: message, presentation, into: &whole)
            let update = setting(
                self.part(part.id, of: message), whole.finish(),
                besides: ["id", "url", "message_url"])
            if let update { packets.append(update) }
        }
        for part in changed.removed {
            packets.append(
                change("delete", self.part(part.id, of: message)) { writer in
                    writer.object { _ in }
                })
        }
        if changed.order != nil { packets.append(list()) }
        return packets
    }
}

extension JSONWriter {
    /// Writes an operation that sets a member.
    fileprivate mutating func set(_ property: String, _ value: (inout JSONWriter) -> Void) {
        object { writer in
            writer.member("operation", "set")
            writer.member("property", property)
            writer.key("value")
            value(&writer)
        }
    }
}

/// An object that a packet or a signal names: `{"type","id","url"}` (client-api §5.4, §5.7).
struct NamedObjectJSON {
    let type: StaticString
    let id: String
    let url: String

    static func conversation(_ id: Conversation.ID, _ links: LinkBuilder) -> NamedObjectJSON {
        NamedObjectJSON(
            type: "Conversation", id: IdentifierJSON.text(id, in: .conversations),
            url: links.conversation(id))
    }

    static func identity(_ user: UserID, _ links: LinkBuilder) -> NamedObjectJSON {
        NamedObjectJSON(
            type: "Identity", id: UserIDJSON.text(identity: user), url: links.identity(user))
    }

    func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", type.description)
            writer.member("id", id)
            writer.member("url", url)
        }
    }
}
