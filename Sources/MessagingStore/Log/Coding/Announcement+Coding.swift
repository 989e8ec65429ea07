import Messaging

extension AnnouncementSent {
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
}

extension AnnouncementReceived {
    func write(to writer: inout ByteWriter) {
        writer.write(announcement)
        writer.write(user)
        writer.write(kind.rawValue)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            announcement: try reader.id(), user: try reader.user(),
            kind: try reader.legal(
                Receipts.Kind(rawValue: try reader.text()), "kind of a receipt"),
            at: try reader.timestamp())
    }
}

extension NotificationSent {
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
}
