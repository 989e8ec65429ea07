import Messaging
import SQL

extension MovedRecords {
    /// A message that waits, and its turn.
    struct Waiting {
        let turn: Int64
        let record: MovedSchedule
    }

    /// In the order in which they were accepted.
    func scheduled(after last: Waiting?) throws -> [Waiting] {
        let rows = try transaction.rows(
            """
            SELECT id, turn FROM scheduled_messages
            WHERE application = \(application) AND turn > \(last?.turn ?? 0)
            ORDER BY turn LIMIT \(Self.stretch)
            """
        ) { row in (id: try row.id(0) as Message.ID, turn: try row.int64(1)) }
        return try rows.compactMap { row in
            try transaction.scheduledMessage(row.id, in: application).map { message in
                let bodies = message.draft.parts.map(\.body)
                let contents = try contents(named: bodies).of(bodies)
                return Waiting(turn: row.turn, record: MovedSchedule(message, contents: contents))
            }
        }
    }

    func announcements(after last: MovedAnnouncement?) throws -> [MovedAnnouncement] {
        let ids = try transaction.rows(
            """
            SELECT id FROM announcements
            WHERE application = \(application) AND id > \(last?.announcement.id.bytes ?? [])
            ORDER BY id LIMIT \(Self.stretch)
            """
        ) { row in try row.id(0) as Announcement.ID }
        let found = try transaction.announcements(ids, in: application)
        return try ids.compactMap { id in
            try found[id].map { announcement in
                MovedAnnouncement(announcement, recipients: try recipients(of: id))
            }
        }
    }

    private func recipients(
        of announcement: Announcement.ID
    ) throws -> [MovedAnnouncement.Recipient] {
        try transaction.rows(
            """
            SELECT user_id, status, deleted_at FROM announcement_recipients
            WHERE application = \(application) AND announcement = \(announcement)
            ORDER BY place
            """
        ) { row in
            guard let status = RecipientStatus(rawValue: try row.text(1)) else {
                throw StoreFault.unreadable("announcement_recipients.status")
            }
            return MovedAnnouncement.Recipient(
                try row.user(0), status: status, deletedAt: try row.optionalTimestamp(2))
        }
    }

    func keys(after last: MovedKey?) throws -> [MovedKey] {
        try transaction.rows(
            """
            SELECT kind, replay_key, object FROM replay_keys
            WHERE application = \(application)
                AND (kind, replay_key) > (\(last?.kind.rawValue ?? ""), \(last?.key.bytes ?? []))
            ORDER BY kind, replay_key LIMIT \(Self.stretch)
            """
        ) { row in
            guard let kind = Replay.Kind(rawValue: try row.text(0)) else {
                throw StoreFault.unreadable("replay_keys.kind")
            }
            return MovedKey(kind, try row.id(1), object: try row.id(2))
        }
    }
}
