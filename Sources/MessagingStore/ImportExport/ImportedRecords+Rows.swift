import Messaging
import SQL

// Imported records are written as they were on the other server. Counts are not in the records: each imported message
// adds to them.
extension Projection {
    func insert(_ record: ArchiveRecord) throws {
        switch record {
        case .application(let application): try rename(application)
        case .user(let archived): try insert(archived)
        case .relations(let archived): try insert(archived)
        case .conversation(let archived): try insert(archived)
        case .message(let archived): try insert(archived)
        case .content(let archived): try insert(archived)
        case .scheduled(let archived):
            for content in archived.contents { try insert(content) }
            try schedule(MessageScheduled(message: archived.message, key: nil))
        case .announcement(let archived): try insert(archived)
        case .key(let archived):
            remember(archived.key, as: archived.kind, for: archived.object.bytes)
        }
    }

    private func insert(_ archived: ArchivedUser) throws {
        let user = archived.user
        try saveIdentity(of: user.id)
        let isNew = try !createUsers([user.id]).isEmpty
        let createdAt = archived.createdAt ?? moment
        if user.identityStatus == .provided { try provide(user.identity) }
        try transaction.execute(
            """
            UPDATE identities SET
                kind = \(user.identity.kind.rawValue), status = \(user.identityStatus.rawValue),
                identity_version = \(user.identityVersion), is_suspended = \(user.isSuspended),
                sessions_ended_at = \(user.sessionsEndedAt),
                external_unread_count = \(archived.externalUnreadCount),
                created_at = CASE
                    WHEN \(isNew) = 1 OR created_at > \(createdAt) THEN \(createdAt)
                    ELSE created_at
                END
            WHERE application = \(application) AND user_id = \(user.id)
            """)
    }

    private func insert(_ archived: ArchivedRelations) throws {
        // Users whose own record was imported already have their status.
        try createImportedUsers([archived.user] + archived.followed)
        for chunk in archived.followed.powerOfTwoChunks(upTo: 256) {
            let rows = chunk.map { user -> [SQLValue] in
                [
                    application.bytes.sqlValue, archived.user.text.sqlValue, user.text.sqlValue,
                    Int64(1).sqlValue,
                ]
            }
            let added = try transaction.rowsChanged(
                by: """
                    INSERT INTO following (application, follower, followed, is_kept)
                    VALUES \(rows: rows) ON CONFLICT (application, follower, followed) DO NOTHING
                    """)
            try transaction.execute(
                """
                UPDATE identities SET following_count = following_count + \(added)
                WHERE application = \(application) AND user_id = \(archived.user)
                """)
        }
        try importBlocks(archived)
    }

    /// Inserts a content, unless it exists.
    func insert(_ archived: ArchivedContent) throws {
        let id = archived.content.id
        guard try transaction.content(id, in: application) == nil else { return }
        try insert(archived.content)
        if let owner = archived.owner { try own(id, owner) }
    }

    private func insert(_ archived: ArchivedAnnouncement) throws {
        let id = archived.announcement.id
        try announce(
            AnnouncementSent(
                announcement: archived.announcement, recipients: archived.recipients.map(\.user)))
        for recipient in archived.recipients {
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

extension Projection {
    /// Inserts a conversation with the views of all participants; its messages follow.
    ///
    /// A distinct one gets no distinct key if its participants have another one here: the next event of the same
    /// transaction merges the two.
    func insert(_ archived: ArchivedConversation) throws {
        let conversation = archived.conversation
        let id = conversation.id
        saveAbsence(of: id)
        let isDistinct = conversation.isDistinct && conversation.deletedAt == nil
        let key: SQL = isDistinct ? distinctKeyIfFree(of: conversation.participants) : "NULL"
        try transaction.execute(
            """
            INSERT INTO conversations (
                application, id, created_at, is_distinct, distinct_key, is_announced, deleted_at,
                last_position, last_sent_at, message_count, metadata, version, participant_count,
                is_wide
            ) VALUES (
                \(application), \(id), \(conversation.createdAt), \(conversation.isDistinct),
                \(key), \(conversation.isAnnounced), \(conversation.deletedAt),
                \(conversation.lastPosition), \(conversation.lastSentAt), 0,
                \(conversation.metadata.columnBytes), \(conversation.version),
                \(conversation.participantCount), \(conversation.isWide)
            )
            """)
        if conversation.deletedAt == nil { addToCounts(conversations: 1) }
        for alias in archived.aliases {
            try transaction.execute(
                """
                INSERT INTO conversation_aliases (application, alias, conversation)
                SELECT application, \(alias), id FROM conversations
                WHERE application = \(application) AND id = \(id) AND NOT EXISTS (
                    SELECT 1 FROM conversations WHERE application = \(application) AND id = \(alias)
                )
                ON CONFLICT (application, alias) DO NOTHING
                """)
        }
        try createImportedUsers(archived.members.map(\.participant.userID))
        for member in archived.members { try insert(member, conversation) }
        let users = conversation.participants.users
        try connect(users, among: users, of: conversation, isKept: false)
    }

    private func insert(_ member: ArchivedParticipant, _ conversation: Conversation) throws {
        let (participant, id) = (member.participant, conversation.id)
        try transaction.execute(
            """
            INSERT INTO participants (
                application, conversation, user_id, place, past, joined_after, left_after,
                frozen_metadata, conversation_created_at, state, cleared_to, shown_from, last_at,
                is_wide
            ) VALUES (
                \(application), \(id), \(participant.userID), \(member.place),
                \(participant.past.text), \(participant.joinedAfter), \(participant.leftAfter),
                \(member.frozenMetadata?.columnBytes), \(conversation.createdAt),
                \(participant.state.rawValue), \(participant.clearedTo), \(member.shownFrom),
                \(conversation.createdAt), \(conversation.isWide && !participant.isFormer)
            )
            """)
        if participant.state == .shown { try count(shown: [participant.userID], 1) }
        if member.receipts != Receipts() {
            try transaction.execute(
                """
                INSERT INTO receipts (application, conversation, user_id, delivered, read)
                VALUES (
                    \(application), \(id), \(participant.userID), \(member.receipts.delivered.text),
                    \(member.receipts.read.text)
                )
                """)
        }
        for position in member.hidden.intervals.joined() {
            try transaction.execute(
                """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                VALUES (\(application), \(id), \(position), \(participant.userID))
                """)
        }
    }

    /// Inserts a message and counts it in every view.
    func insert(_ archived: ArchivedMessage) throws {
        for content in archived.contents { try insert(content) }
        let message = archived.message
        insert(message, blocksChangedAt: archived.blocksChangedAt)
        for (part, place) in zip(message.parts, archived.places) {
            try insert(part, of: message.id, in: message.conversation)
            if let place { try move(part.index, to: place, in: message.id) }
        }
        if let made = archived.partsMade {
            try transaction.execute(
                """
                UPDATE messages SET parts_made = \(made)
                WHERE application = \(application) AND id = \(message.id)
                """)
        }
        try insert(archived.recipients, of: message)
        try transaction.execute(
            """
            UPDATE conversations SET
                message_count = message_count + 1,
                last_sent_at = CASE
                    WHEN last_sent_at IS NULL
                        OR (last_position < \(message.position) AND last_sent_at < \(message.sentAt))
                    THEN \(message.sentAt) ELSE last_sent_at
                END,
                last_position = CASE
                    WHEN last_position < \(message.position) THEN \(message.position)
                    ELSE last_position
                END
            WHERE application = \(application) AND id = \(message.conversation)
            """)
        try countInViews(message)
    }

    /// Inserts hidden positions and receipts of a message whose position is not that of the record.
    private func insert(_ recipients: [ArchivedMessage.Recipient], of message: Message) throws {
        let (place, conversation) = (message.position, message.conversation)
        for recipient in recipients {
            if recipient.isHidden {
                try transaction.execute(
                    """
                    INSERT INTO hidden_messages (application, conversation, position, user_id)
                    VALUES (\(application), \(conversation), \(place), \(recipient.user))
                    ON CONFLICT (application, conversation, position, user_id) DO NOTHING
                    """)
            }
            guard recipient.status > .sent else { continue }
            let owner = ReceiptOwner(conversation: conversation, user: recipient.user)
            let known = try transaction.receipts(of: owner, in: application)
            write(
                known.recording(
                    recipient.status == .read ? .read : .delivery,
                    of: IntervalSet(place.number...place.number)), of: owner)
        }
    }

    /// Adds an imported message to the counts of all views, and makes it the last message of views without a later one.
    private func countInViews(_ message: Message) throws {
        let (place, conversation) = (message.position, message.conversation)
        let sender = [message.sender.userID].compactMap(\.self)
        let readers = try readers(of: place, in: conversation) + sender
        try count(1, at: place, readBy: readers, in: conversation)
        try transaction.execute(
            """
            UPDATE participants SET
                last_position = \(place), last_message = \(message.id), last_at = \(message.sentAt)
            WHERE application = \(application) AND conversation = \(conversation)
                AND is_wide = 0 AND COALESCE(last_position, 0) < \(place)
                AND (left_after IS NULL OR left_after >= \(place)) AND cleared_to < \(place)
                AND NOT EXISTS (
                    SELECT 1 FROM hidden_messages h
                    WHERE h.application = \(application) AND h.conversation = \(conversation)
                        AND h.position = \(place) AND h.user_id = participants.user_id
                )
            """)
    }
}
