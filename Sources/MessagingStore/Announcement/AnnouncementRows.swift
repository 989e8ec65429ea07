import Messaging
import SQL

/// The row of one recipient of an announcement.
struct AnnouncementCopy {
    let announcement: Announcement.ID
    let sentAt: Timestamp
    let status: RecipientStatus

    /// The columns that ``init(_:)`` reads, in this order.
    fileprivate static let columns: StaticString = "announcement, sent_at, status"

    init(_ row: borrowing Row) throws {
        announcement = try row.id(0)
        sentAt = try row.timestamp(1)
        guard let status = RecipientStatus(rawValue: try row.text(2)) else {
            throw StoreFault.unreadable("announcement_recipients.status")
        }
        self.status = status
    }
}

extension Transaction {
    /// An announcement with all its recipients; `nil` for an unknown one.
    func snapshot(
        of id: Announcement.ID, in application: Application.ID
    ) throws -> AnnouncementSnapshot? {
        guard let announcement = try announcements([id], in: application)[id] else { return nil }
        let recipients = try rows(
            """
            SELECT user_id FROM announcement_recipients
            WHERE application = \(application) AND announcement = \(id)
            ORDER BY place
            """
        ) { row in try row.user(0) }
        let identities = try identities(of: [announcement], in: application)
        return AnnouncementSnapshot(
            announcement: announcement,
            sender: announcement.sender.userID.map(identities.identity), recipients: recipients)
    }

    /// A user's row of an announcement.
    ///
    /// - Throws: `notFound` when the user is no recipient, or has deleted the announcement.
    func announcementCopy(
        _ id: Announcement.ID, for user: UserID, in application: Application.ID
    ) throws -> AnnouncementCopy {
        let copy = try first(
            """
            SELECT \(raw: AnnouncementCopy.columns) FROM announcement_recipients
            WHERE application = \(application) AND announcement = \(id) AND user_id = \(user)
                AND deleted_at IS NULL
            """
        ) { row in try AnnouncementCopy(row) }
        guard let copy else { throw Rejection.notFound(.announcement) }
        return copy
    }

    /// A user's rows of announcements that they have not deleted.
    func announcementCopies(
        _ ids: [Announcement.ID], for user: UserID, in application: Application.ID
    ) throws -> [AnnouncementCopy] {
        try rows(
            """
            SELECT \(raw: AnnouncementCopy.columns) FROM announcement_recipients
            WHERE application = \(application) AND announcement \(in: ids) AND user_id = \(user)
                AND deleted_at IS NULL
            """
        ) { row in try AnnouncementCopy(row) }
    }

    /// A page of a user's announcements, newest first, read from their index, as many as fit into one response.
    ///
    /// - Parameter last: The time and the id of the last item of the previous page; `nil` for the first page.
    func announcementCopies(
        for user: UserID, after last: (time: Timestamp, id: [UInt8])?, limit: Int,
        in application: Application.ID
    ) throws -> BoundedPage<AnnouncementCopy> {
        let time = last?.time ?? Timestamp(milliseconds: .max)
        let id = last?.id ?? ViewCursor.top.id
        let copies = try rows(
            """
            SELECT \(raw: AnnouncementCopy.columns) FROM announcement_recipients
            WHERE application = \(application) AND user_id = \(user)
                AND (sent_at, announcement) < (\(time), \(id)) AND deleted_at IS NULL
            ORDER BY sent_at DESC, announcement DESC LIMIT \(limit)
            """
        ) { row in try AnnouncementCopy(row) }
        let weights = try weights(of: copies.map(\.announcement), in: application)
        return BoundedPage(copies) { copy in weights[copy.announcement] ?? 0 }
    }

    /// The approximate sizes of announcements in a response, in bytes; see `MessagePart.weight`.
    private func weights(
        of ids: [Announcement.ID], in application: Application.ID
    ) throws -> [Announcement.ID: Int64] {
        guard !ids.isEmpty else { return [:] }
        let weights = try rows(
            """
            SELECT announcement, CAST(SUM(
                LENGTH(body) + LENGTH(mime_type) + \(MessagePart.frame)
            ) AS BIGINT) FROM announcement_parts
            WHERE application = \(application) AND announcement \(in: ids)
            GROUP BY announcement
            """
        ) { row in (id: try row.id(0) as Announcement.ID, weight: try row.int64(1)) }
        return Dictionary(weights.map { ($0.id, $0.weight) }) { first, _ in first }
    }

    /// The number of announcements that a user has received and not deleted.
    func announcementCount(of user: UserID, in application: Application.ID) throws -> Int64 {
        try first(
            """
            SELECT announcement_count FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in try row.int64(0) } ?? 0
    }

    /// Announcements as their recipient sees them, read in three statements.
    func views(
        of copies: [AnnouncementCopy], in application: Application.ID
    ) throws -> [AnnouncementView] {
        let announcements = try announcements(copies.map(\.announcement), in: application)
        let identities = try identities(of: Array(announcements.values), in: application)
        return copies.compactMap { copy in
            announcements[copy.announcement].map { announcement in
                AnnouncementView(
                    announcement: announcement,
                    sender: announcement.sender.userID.map(identities.identity),
                    status: copy.status)
            }
        }
    }

    private func identities(
        of announcements: [Announcement], in application: Application.ID
    ) throws -> [UserID: BasicIdentity] {
        try identities(of: Set(announcements.compactMap(\.sender.userID)), in: application)
    }

    /// Announcements by their ids, in two statements.
    func announcements(
        _ ids: [Announcement.ID], in application: Application.ID
    ) throws -> [Announcement.ID: Announcement] {
        guard !ids.isEmpty else { return [:] }
        let parts = Dictionary(
            grouping: try rows(
                """
                SELECT announcement, id, part_index, mime_type, body FROM announcement_parts
                WHERE application = \(application)
                    AND announcement \(in: ids)
                """
            ) { row in
                (
                    announcement: try row.id(0) as Announcement.ID,
                    part: MessagePart(
                        id: try row.id(1), index: try row.int(2), mimeType: try row.text(3),
                        body: .inline(try row.blob(4)))
                )
            }, by: \.announcement)
        let announcements = try rows(
            """
            SELECT id, sender_user, sender_name, sent_at FROM announcements
            WHERE application = \(application) AND id \(in: ids)
            """
        ) { row in
            let id = try row.id(0) as Announcement.ID
            return Announcement(
                id: id,
                sender: try row.optionalUser(1).map(Sender.user) ?? .named(try row.text(2)),
                sentAt: try row.timestamp(3),
                parts: (parts[id] ?? []).map(\.part).sorted { left, right in
                    left.index < right.index
                })
        }
        return Dictionary(announcements.map { ($0.id, $0) }) { first, _ in first }
    }
}

extension Projection {
    /// Inserts an announcement, and a narrow row for each recipient.
    func announce(_ sent: AnnouncementSent) throws {
        let announcement = sent.announcement
        let (user, name) = announcement.sender.columns
        try transaction.execute(
            """
            INSERT INTO announcements (application, id, sender_user, sender_name, sent_at)
            VALUES (
                \(application), \(announcement.id), \(user), \(name), \(announcement.sentAt)
            )
            """)
        for part in announcement.parts { try insert(part, of: announcement) }
        try insert(sent.recipients, of: announcement)
        try createRecipients(sent.recipients, ofAnnouncements: 1)
        remember(sent.key, as: .announcement, for: announcement.id.bytes)
    }

    /// Inserts a row for each recipient, in the order of the index, which is by user id.
    private func insert(_ recipients: [UserID], of announcement: Announcement) throws {
        let sorted = recipients.enumerated().sorted { left, right in left.element < right.element }
        for chunk in sorted.powerOfTwoChunks(upTo: 256) {
            let rows = chunk.map { place, user -> [SQLValue] in
                // The sender has read the announcement from the start (R71).
                let status: RecipientStatus = user == announcement.sender.userID ? .read : .sent
                return [
                    application.bytes.sqlValue, announcement.id.bytes.sqlValue, user.text.sqlValue,
                    place.sqlValue, announcement.sentAt.milliseconds.sqlValue,
                    status.rawValue.sqlValue, position.number.sqlValue,
                ]
            }
            try transaction.execute(
                """
                INSERT INTO announcement_recipients (
                    application, announcement, user_id, place, sent_at, status, event
                ) VALUES \(rows: rows)
                """)
        }
    }

    private func insert(_ part: MessagePart, of announcement: Announcement) throws {
        guard case .inline(let body) = part.body else {
            throw StoreFault.unreadable("content in an announcement")
        }
        try transaction.execute(
            """
            INSERT INTO announcement_parts (
                application, announcement, part_index, id, mime_type, body
            ) VALUES (
                \(application), \(announcement.id), \(part.index), \(part.id), \(part.mimeType),
                \(body)
            )
            """)
    }

    /// Sets the status of a recipient.
    func record(_ received: AnnouncementReceived) throws {
        try transaction.execute(
            """
            UPDATE announcement_recipients SET
                status = \(received.kind.status.rawValue), event = \(position)
            WHERE application = \(application) AND announcement = \(received.announcement)
                AND user_id = \(received.user)
            """)
    }

    /// Removes an announcement from a recipient's list; it still lists the recipient (R100).
    func delete(_ id: Announcement.ID, for user: UserID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE announcement_recipients SET deleted_at = \(moment), event = \(position)
            WHERE application = \(application) AND announcement = \(id) AND user_id = \(user)
            """)
        try transaction.execute(
            """
            UPDATE identities SET announcement_count = announcement_count - 1
            WHERE application = \(application) AND user_id = \(user)
            """)
    }
}
