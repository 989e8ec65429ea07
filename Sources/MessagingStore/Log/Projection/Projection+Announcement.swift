import Messaging
import SQL

extension Projection {
    /// Keeps what is said once, and a narrow row for each recipient.
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
        try bring(announcement, to: sent.recipients)
        try nameAsRecipients(sent.recipients, ofAnnouncements: 1)
        remember(sent.key, as: .announcement, for: announcement.id.bytes)
    }

    /// A row for each recipient, in the order of the index they are found by.
    private func bring(_ announcement: Announcement, to recipients: [UserID]) throws {
        let placed = recipients.enumerated().sorted { left, right in left.element < right.element }
        for some in placed.powers(upTo: 256) {
            let rows = some.map { place, user -> [SQLValue] in
                // Who sends has read it from the start (R71).
                let status: RecipientStatus = user == announcement.sender.userID ? .read : .sent
                return [
                    application.bytes.sqlValue, announcement.id.bytes.sqlValue, user.text.sqlValue,
                    place.sqlValue, announcement.sentAt.milliseconds.sqlValue,
                    status.rawValue.sqlValue,
                ]
            }
            try transaction.execute(
                """
                INSERT INTO announcement_recipients (
                    application, announcement, user_id, place, sent_at, status
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

    func record(_ received: AnnouncementReceived) throws {
        try transaction.execute(
            """
            UPDATE announcement_recipients SET status = \(received.kind.status.rawValue)
            WHERE application = \(application) AND announcement = \(received.announcement)
                AND user_id = \(received.user)
            """)
    }

    /// Hides a recipient's copy; who the announcement was for stays known (R100).
    func delete(_ id: Announcement.ID, for user: UserID, at moment: Timestamp) throws {
        try transaction.execute(
            """
            UPDATE announcement_recipients SET deleted_at = \(moment)
            WHERE application = \(application) AND announcement = \(id) AND user_id = \(user)
            """)
        try transaction.execute(
            """
            UPDATE identities SET announcement_count = announcement_count - 1
            WHERE application = \(application) AND user_id = \(user)
            """)
    }
}
