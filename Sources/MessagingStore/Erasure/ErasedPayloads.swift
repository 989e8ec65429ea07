public import Messaging

/// Finds a user in JSON texts that the store does not interpret, and reduces them: bodies of webhooks, answers stored under
/// idempotency keys, notifications.
public struct ErasureBodies: Sendable {
    /// Whether a JSON text names a user.
    public let names: @Sendable (_ json: [UInt8], _ user: UserID) -> Bool
    /// Whether a text has the path or the id of a user.
    public let namesInText: @Sendable (_ text: [UInt8], _ user: UserID) -> Bool
    /// What is left of the body of a webhook delivery: which event it was.
    public let delivery: @Sendable (_ body: [UInt8]) -> [UInt8]

    /// All members.
    public init(
        names: @escaping @Sendable (_ json: [UInt8], _ user: UserID) -> Bool,
        namesInText: @escaping @Sendable (_ text: [UInt8], _ user: UserID) -> Bool,
        delivery: @escaping @Sendable (_ body: [UInt8]) -> [UInt8]
    ) {
        self.names = names
        self.namesInText = namesInText
        self.delivery = delivery
    }
}

/// What an erasure replaces in payloads.
struct ErasedPayloads: Sendable {
    let user: UserID
    /// The name that replaces the id of the user.
    let erased: UserID
    let bodies: ErasureBodies
    /// The messages of the user among those that are named without their sender.
    var messages: Set<Message.ID> = []
    /// The contents of messages that became tombstones.
    var contents: Set<Content.ID> = []

    /// Reads a payload with the name of the erased user in place of the id.
    ///
    /// - Returns: What was read, and whether it named the user.
    func reading<Value>(
        _ bytes: [UInt8], _ read: (inout ByteReader) throws -> Value
    ) throws -> (value: Value, namesUser: Bool) {
        let replacement = UserReplacement(user, by: erased)
        var reader = ByteReader(bytes, replacing: replacement)
        let value = try read(&reader)
        try reader.finish()
        return (value, replacement.hasOccurred)
    }

    /// Reads an event with the name of the erased user in place of the id.
    func event(type: String, _ encoded: [UInt8]) throws -> (event: Event, namesUser: Bool) {
        let replacement = UserReplacement(user, by: erased)
        let event = try Event(type: type, encoded: encoded, replacing: replacement)
        return (event, replacement.hasOccurred || event.notification.map(names) ?? false)
    }

    func names(_ json: [UInt8]) -> Bool { bodies.names(json, user) }

    private func isOwn(_ sender: Sender) -> Bool { sender.userID == erased }
}

extension Event {
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
                    notification: isOwn(sent.message.sender) ? nil : kept(sent.notification),
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
                    notification: isOwn(sent.announcement.sender) ? nil : kept(sent.notification),
                    key: sent.key))
        case .notificationSent(let sent):
            return .notificationSent(
                NotificationSent(
                    recipients: sent.recipients.filter { user in user != erased },
                    notification: kept(sent.notification) ?? Array("{}".utf8), key: sent.key,
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
                notification: isOwn ? nil : kept(draft.notification),
                proposedID: draft.proposedID),
            dueAt: message.dueAt, typingFrom: message.typingFrom)
    }

    private func kept(_ notification: [UInt8]?) -> [UInt8]? {
        notification.flatMap { json in names(json) ? nil : json }
    }

    private func reduced(_ announcement: Announcement) -> Announcement {
        guard isOwn(announcement.sender) else { return announcement }
        return Announcement(
            id: announcement.id, sender: announcement.sender, sentAt: announcement.sentAt,
            parts: [])
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
            guard isOwn(archived.message.sender) else { return record }
            return .message(
                ArchivedMessage(
                    reduced(archived.message), partsMade: archived.partsMade, places: [],
                    blocksChangedAt: archived.blocksChangedAt, recipients: archived.recipients))
        case .scheduled(let archived):
            return .scheduled(
                ArchivedScheduledMessage(
                    try reduced(archived.message),
                    contents: isOwn(archived.message.draft.sender) ? [] : archived.contents))
        case .content(let archived):
            guard contents.contains(archived.content.id) else { return record }
            return .content(
                ArchivedContent(archived.content.withoutFileName, owner: archived.owner))
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
