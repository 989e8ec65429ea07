import Messaging

extension AnnouncementSent: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(announcement.id)
        announcement.sender.write(to: &writer)
        writer.write(announcement.sentAt)
        writer.write(each: announcement.parts) { writer, part in part.write(to: &writer) }
        writer.write(each: recipients) { writer, user in writer.write(user) }
        writer.write(optional: notification) { writer, json in writer.write(json) }
        writer.write(optional: key) { writer, key in writer.write(key) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            announcement: Announcement(
                id: try reader.id(), sender: try Sender(from: &reader),
                sentAt: try reader.timestamp(),
                parts: try reader.each { reader in try MessagePart(from: &reader) }),
            recipients: try reader.each { reader in try reader.user() },
            notification: try reader.optional { reader in try reader.bytes() },
            key: try reader.optional { reader in try reader.id() })
    }

    func apply(to rows: Projection) throws {
        try rows.announce(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        guard let user = announcement.sender.userID else { return .none }
        return .sender(try history.identity(of: user, at: position))
    }
}

extension AnnouncementReceived: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(announcement)
        writer.write(user)
        writer.write(kind.rawValue)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            announcement: try reader.id(), user: try reader.user(),
            kind: try reader.valid(
                Receipts.Kind(rawValue: try reader.text()), "kind of a receipt"),
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.record(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension AnnouncementDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(announcement)
        writer.write(user)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            announcement: try reader.id(), user: try reader.user(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.delete(announcement, for: user, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension NotificationSent: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(each: recipients) { writer, user in writer.write(user) }
        writer.write(notification)
        writer.write(optional: key) { writer, key in writer.write(key) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            recipients: try reader.each { reader in try reader.user() },
            notification: try reader.bytes(),
            key: try reader.optional { reader in try reader.id() }, at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.notify(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
