import Messaging

/// What an erasure replaces in payloads.
struct ErasedPayloads: Sendable {
    let user: UserID
    /// The name that replaces the id of the user.
    let erased: UserID
    let bodies: ErasureBodies
    /// The messages of the user among those that events name without their sender.
    var messages: Set<Message.ID> = []
    /// The contents of the user among those that events name without their owner.
    var contents: Set<Content.ID> = []

    /// Decodes a payload with the name of the erased user in place of the id.
    ///
    /// - Returns: What was decoded, and whether it named the user.
    func decode<Value>(
        _ bytes: [UInt8], replacing read: (inout ByteReader) throws -> Value
    ) throws -> (value: Value, namesUser: Bool) {
        let replacement = UserReplacement(user, by: erased)
        var reader = ByteReader(bytes, replacing: replacement)
        let value = try read(&reader)
        try reader.finish()
        return (value, replacement.wasFound)
    }

    /// Decodes an event with the name of the erased user in place of the id.
    func event(type: String, _ encoded: [UInt8]) throws -> (value: Event, namesUser: Bool) {
        let replacement = UserReplacement(user, by: erased)
        let event = try Event(type: type, encoded: encoded, replacing: replacement)
        return (event, replacement.wasFound || event.notification.map(namesUser) ?? false)
    }

    func namesUser(_ json: [UInt8]) -> Bool { bodies.namesUser(json, user) }

    private func isOwn(_ sender: Sender) -> Bool { sender.userID == erased }

    /// Whether an event has parts of a message, or the file name of a content, that belongs to the user, although it need
    /// not name the user.
    func isOwn(_ event: Event) -> Bool {
        switch event.objectWithUnnamedOwner {
        case .message(let id): messages.contains(id)
        case .content(let id): contents.contains(id)
        case nil: false
        }
    }

    /// The contents that an event, or the record that it has imported, shows to belong to the user.
    func ownContents(in event: Event) -> [Content.ID] {
        switch event {
        case .contentOwned(let owned): owned.owner == erased ? [owned.content] : []
        case .messageSent(let sent): ownContents(in: sent.message)
        case .messageDeleted(let deleted): ownContents(in: deleted.message)
        case .messageScheduled(let scheduled): ownContents(in: scheduled.message.draft)
        case .partsChanged(let change):
            messages.contains(change.message)
                ? (change.created + change.updated).compactMap(\.body.content) : []
        case .recordImported(let imported):
            switch imported.record {
            case .message(let archived):
                ownContents(in: archived.message) + ownContents(in: archived.contents)
            case .scheduled(let archived):
                ownContents(in: archived.message.draft) + ownContents(in: archived.contents)
            case .content(let archived): ownContents(in: [archived])
            default: []
            }
        default: []
        }
    }

    private func ownContents(in message: Message) -> [Content.ID] {
        isOwn(message.sender) ? message.parts.compactMap(\.body.content) : []
    }

    /// The contents of a scheduled message of the user.
    func ownContents(in draft: Message.Draft) -> [Content.ID] {
        isOwn(draft.sender) ? draft.parts.compactMap(\.body.content) : []
    }

    private func ownContents(in archived: [ArchivedContent]) -> [Content.ID] {
        archived.filter { archived in archived.owner == erased }.map(\.content.id)
    }
}

extension MessagePart.Body {
    fileprivate var content: Content.ID? {
        if case .content(let id, _) = self { id } else { nil }
    }
}

/// An object that an event names without its user.
enum OwnedObject {
    case message(Message.ID)
    case content(Content.ID)
}

extension Event {
    /// The message whose parts, or the content whose file name, the event has without the user.
    var objectWithUnnamedOwner: OwnedObject? {
        switch self {
        case .partsChanged(let change):
            change.created.isEmpty && change.updated.isEmpty ? nil : .message(change.message)
        case .contentUploaded(let uploaded):
            uploaded.content.fileName == nil ? nil : .content(uploaded.content.id)
        case .recordImported(let imported):
            if case .content(let archived) = imported.record, archived.content.fileName != nil {
                .content(archived.content.id)
            } else {
                nil
            }
        default: nil
        }
    }

    /// The notification of the event, which may name users: JSON.
    fileprivate var notification: [UInt8]? {
        switch self {
        case .messageSent(let event): event.notification
        case .messageScheduled(let event): event.message.draft.notification
        case .announcementSent(let event): event.notification
        case .notificationSent(let event): event.notification
        case .recordImported(let event):
            if case .scheduled(let archived) = event.record {
                archived.message.draft.notification
            } else {
                nil
            }
        default: nil
        }
    }
}

extension ErasedPayloads {
    /// Reduces an event whose users were replaced: what belonged to the user is gone.
    func reduced(_ event: Event) throws -> Event {
        switch event {
        case .messageSent(let sent):
            return .messageSent(
                MessageSent(
                    message: reduced(sent.message),
                    notification: isOwn(sent.message.sender)
                        ? nil : withoutMentions(sent.notification),
                    key: sent.key))
        case .messageScheduled(let scheduled):
            return .messageScheduled(
                MessageScheduled(message: try reduced(scheduled.message), key: scheduled.key))
        case .partsChanged(let change):
            guard messages.contains(change.message) else { return event }
            return .partsChanged(
                PartsChanged(
                    message: change.message, conversation: change.conversation,
                    removed: change.removed, partsMade: change.partsMade, at: change.at))
        case .messageDeleted(let deleted):
            return .messageDeleted(
                MessageDeleted(
                    message: reduced(deleted.message), recipients: deleted.recipients,
                    recipientCounts: deleted.recipientCounts, at: deleted.at))
        case .identityReplaced(let replaced):
            guard replaced.identity.userID == erased else { return event }
            return .identityReplaced(IdentityReplaced(identity: Identity(userID: erased)))
        case .identityPatched(let patched):
            guard patched.user == erased else { return event }
            return .identityPatched(IdentityPatched(user: erased, patches: []))
        case .sessionCreated(let created):
            guard created.session.user == erased else { return event }
            let session = created.session
            return .sessionCreated(
                SessionCreated(
                    session: Session(
                        id: session.id, user: erased, createdAt: session.createdAt,
                        expiresAt: session.expiresAt, lastUsedAt: session.lastUsedAt,
                        userAgent: nil), digest: created.digest))
        case .contentUploaded(let uploaded):
            guard contents.contains(uploaded.content.id) else { return event }
            return .contentUploaded(ContentUploaded(content: uploaded.content.withoutFileName))
        case .announcementSent(let sent):
            return .announcementSent(
                AnnouncementSent(
                    announcement: reduced(sent.announcement),
                    recipients: sent.recipients.filter { user in user != erased },
                    notification: isOwn(sent.announcement.sender)
                        ? nil : withoutMentions(sent.notification),
                    key: sent.key))
        case .notificationSent(let sent):
            return .notificationSent(
                NotificationSent(
                    recipients: sent.recipients.filter { user in user != erased },
                    notification: withoutMentions(sent.notification) ?? Array("{}".utf8),
                    key: sent.key,
                    at: sent.at))
        case .recordImported(let imported):
            return .recordImported(
                RecordImported(
                    record: try reduced(imported.record), isMoved: imported.isMoved))
        default: return event
        }
    }

    /// A message as its event has it.
    func reduced(_ message: Message) -> Message {
        guard isOwn(message.sender) else { return message }
        var message = message
        message.parts = []
        return message
    }

    /// A scheduled message; a draft has at least one part.
    func reduced(_ message: ScheduledMessage) throws -> ScheduledMessage {
        let draft = message.draft
        let isOwn = isOwn(draft.sender)
        return ScheduledMessage(
            id: message.id, conversation: message.conversation,
            draft: try Message.Draft(
                sender: draft.sender, admission: draft.admission,
                senderProperty: draft.senderProperty,
                parts: isOwn
                    ? [MessagePart.Draft(mimeType: "text/plain", body: .inline([]))] : draft.parts,
                notification: isOwn ? nil : withoutMentions(draft.notification),
                proposedID: draft.proposedID),
            dueAt: message.dueAt, typingFrom: message.typingFrom)
    }

    private func withoutMentions(_ notification: [UInt8]?) -> [UInt8]? {
        notification.flatMap { json in namesUser(json) ? nil : json }
    }

    private func reduced(_ announcement: Announcement) -> Announcement {
        guard isOwn(announcement.sender) else { return announcement }
        return Announcement(
            id: announcement.id, sender: announcement.sender, sentAt: announcement.sentAt,
            parts: [])
    }

    private func reduced(_ archived: ArchivedContent) -> ArchivedContent {
        guard archived.owner == erased || contents.contains(archived.content.id) else {
            return archived
        }
        return ArchivedContent(archived.content.withoutFileName, owner: archived.owner)
    }

    private func reduced(_ record: ArchiveRecord) throws -> ArchiveRecord {
        switch record {
        case .user(let archived):
            guard archived.user.id == erased else { return record }
            return .user(
                ArchivedUser(
                    User(
                        identity: Identity(userID: erased), identityStatus: .unknown,
                        identityVersion: archived.user.identityVersion, isSuspended: false,
                        sessionsEndedAt: nil),
                    externalUnreadCount: 0, createdAt: archived.createdAt))
        case .relations(let archived):
            return .relations(
                ArchivedRelations(
                    archived.user,
                    followed: archived.user == erased
                        ? [] : archived.followed.filter { user in user != erased },
                    blocked: archived.user == erased
                        ? [] : archived.blocked.filter { user in user != erased },
                    blockPeriods: archived.blockPeriods))
        case .message(let archived):
            guard isOwn(archived.message.sender) else {
                return .message(archived.with(archived.contents.map(reduced)))
            }
            return .message(
                ArchivedMessage(
                    reduced(archived.message), partsMade: archived.partsMade, places: [],
                    blocksChangedAt: archived.blocksChangedAt, recipients: archived.recipients))
        case .scheduled(let archived):
            return .scheduled(
                ArchivedScheduledMessage(
                    try reduced(archived.message),
                    contents: isOwn(archived.message.draft.sender)
                        ? [] : archived.contents.map(reduced)))
        case .content(let archived): return .content(reduced(archived))
        case .announcement(let archived):
            return .announcement(
                ArchivedAnnouncement(
                    reduced(archived.announcement),
                    recipients: archived.recipients.filter { recipient in
                        recipient.user != erased
                    }))
        case .conversation, .key, .application: return record
        }
    }
}

extension Content {
    fileprivate var withoutFileName: Content {
        Content(
            id: id, conversation: conversation, mimeType: mimeType, size: size, fileName: nil,
            sha256: sha256, crc32c: crc32c, md5: md5, sha512: sha512, completedAt: completedAt,
            origin: origin)
    }
}
