import Messaging
import SQL

extension ParticipantErased: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(user)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), user: try reader.user(), at: try reader.timestamp())
    }

    // Nothing to apply: the erasure has renamed the row in the same transaction.
    func apply(to rows: Projection) throws {}

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }
}

extension MessageErased: MessageChange {
    func write(to writer: inout ByteWriter) {
        writer.write(message)
        writer.write(conversation)
        writer.write(sender)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try reader.id(), conversation: try reader.id(), sender: try reader.user(),
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.erase(self)
    }
}

extension AnnouncementErased: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(announcement)
        writer.write(sender)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            announcement: try reader.id(), sender: try reader.user(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.erase(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension Projection {
    /// Makes a message a tombstone, and releases its contents. Its former state is not stored for readers of earlier events.
    fileprivate func erase(_ erased: MessageErased) throws {
        guard let before = try transaction.message(erased.message, in: application) else { return }
        try transaction.erase(
            before, as: erased.sender, at: erased.at, changed: position, in: application)
        try release(before.contents(at: before.parts.map(\.index)), in: erased.conversation)
    }

    /// Makes an announcement a tombstone, which its recipients receive again.
    fileprivate func erase(_ erased: AnnouncementErased) throws {
        try transaction.execute(
            """
            DELETE FROM announcement_parts
            WHERE application = \(application) AND announcement = \(erased.announcement)
            """)
        try transaction.execute(
            """
            UPDATE announcements SET sender_user = \(erased.sender)
            WHERE application = \(application) AND id = \(erased.announcement)
            """)
        try transaction.execute(
            """
            UPDATE announcement_recipients SET event = \(position)
            WHERE application = \(application) AND announcement = \(erased.announcement)
            """)
    }
}

extension Transaction {
    /// Deletes the parts of a message, and sets its sender.
    ///
    /// - Parameter changed: The position of the event; `nil` for a message of a deleted conversation.
    func erase(
        _ message: Message, as sender: UserID, at moment: Timestamp, changed: LogPosition?,
        in application: Application.ID
    ) throws {
        let rows: [RowKey] = [
            .message(message.id, in: application), .message(message.id, in: application, "parts"),
            .message(at: message.position, in: message.conversation, of: application),
            .conversation(message.conversation, in: application, "messages"),
        ]
        try execute(
            "DELETE FROM parts WHERE application = \(application) AND message = \(message.id)",
            changing: rows)
        try execute(
            """
            UPDATE messages SET
                sender_user = \(sender), weight = 0, version = version + 1, updated_at = \(moment),
                changed = COALESCE(\(changed), changed),
                parts_made = COALESCE(parts_made, \(message.parts.count))
            WHERE application = \(application) AND id = \(message.id)
            """, changing: rows)
    }
}
