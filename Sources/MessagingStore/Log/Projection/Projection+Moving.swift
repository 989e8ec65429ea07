import Messaging
import SQL

// What came from another server is written as it was there; what is counted adds up again from the
// messages as they come.
extension Projection {
    func bring(_ record: MovedRecord) throws {
        switch record {
        case .application(let application): try rename(application)
        case .user(let moved): try bring(moved)
        case .relations(let moved): try bring(moved)
        case .conversation(let moved): try bring(moved)
        case .message(let moved): try bring(moved)
        case .content(let moved): try bring(moved)
        case .scheduled(let moved):
            for content in moved.contents { try bring(content) }
            try keep(MessageScheduled(message: moved.message, key: nil))
        case .announcement(let moved): try bring(moved)
        case .key(let moved): remember(moved.key, as: moved.kind, for: moved.object.bytes)
        }
    }

    private func bring(_ moved: MovedUser) throws {
        let user = moved.user
        try keepIdentity(of: user.id)
        let isNew = try know([user.id]) > 0
        let createdAt = moved.createdAt ?? moment
        if user.standing == .told { try tell(user.identity) }
        try transaction.execute(
            """
            UPDATE identities SET
                kind = \(user.identity.kind.rawValue), standing = \(user.standing.rawValue),
                identity_version = \(user.identityVersion), is_suspended = \(user.isSuspended),
                sessions_ended_at = \(user.sessionsEndedAt),
                external_unread_count = \(moved.externalUnreadCount),
                created_at = CASE
                    WHEN \(isNew) = 1 OR created_at > \(createdAt) THEN \(createdAt)
                    ELSE created_at
                END
            WHERE application = \(application) AND user_id = \(user.id)
            """)
    }

    private func bring(_ moved: MovedRelations) throws {
        // Whose own record has come has the standing that it tells.
        try nameInMoved([moved.user] + moved.followed)
        for some in moved.followed.powers(upTo: 256) {
            let rows = some.map { user -> [SQLValue] in
                [
                    application.bytes.sqlValue, moved.user.text.sqlValue, user.text.sqlValue,
                    Int64(1).sqlValue, Int64(0).sqlValue,
                ]
            }
            let added = try transaction.rowsChanged(
                by: """
                    INSERT INTO following (application, follower, followed, is_kept, shared_count)
                    VALUES \(rows: rows) ON CONFLICT (application, follower, followed) DO NOTHING
                    """)
            try transaction.execute(
                """
                UPDATE identities SET following_count = following_count + \(added)
                WHERE application = \(application) AND user_id = \(moved.user)
                """)
        }
        try bringBlocks(moved)
    }

    /// Keeps a content, unless it is there.
    func bring(_ moved: MovedContent) throws {
        let id = moved.content.id
        guard try transaction.content(id, in: application) == nil else { return }
        try keep(moved.content)
        if let owner = moved.owner { try own(id, owner) }
    }

    private func bring(_ moved: MovedAnnouncement) throws {
        let id = moved.announcement.id
        try announce(
            AnnouncementSent(
                announcement: moved.announcement, recipients: moved.recipients.map(\.user)))
        for recipient in moved.recipients {
            try transaction.execute(
                """
                UPDATE announcement_recipients SET status = \(recipient.status.rawValue)
                WHERE application = \(application) AND announcement = \(id)
                    AND user_id = \(recipient.user) AND status <> \(recipient.status.rawValue)
                """)
            if let moment = recipient.deletedAt {
                try delete(id, for: recipient.user, at: moment)
            }
        }
    }
}
