import Messaging
import SQL

// Imported records are written as they were on the other server. Counts are not in the records: each imported message
// adds to them.
extension Projection {
    func insert(_ record: ArchiveRecord) throws {
        switch record {
        case .application(let application): try rename(application)
        case .user(let archived): try save(archived)
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

    /// Inserts a user, or gives one that is known an identity.
    private func save(_ archived: ArchivedUser) throws {
        let user = archived.user
        let known = try transaction.prefetchedIdentities(of: [user.id], in: application)
        guard !known.isEmpty else { return insert(archived) }
        try saveIdentity(of: user.id)
        let createdAt = archived.createdAt ?? moment
        if user.identityStatus == .provided { try provide(user.identity) }
        try transaction.execute(
            """
            UPDATE identities SET
                kind = \(user.identity.kind.rawValue), status = \(user.identityStatus.rawValue),
                identity_version = \(user.identityVersion), is_suspended = \(user.isSuspended),
                sessions_ended_at = \(user.sessionsEndedAt),
                external_unread_count = \(archived.externalUnreadCount),
                identity_event = \(position),
                created_at = CASE
                    WHEN created_at > \(createdAt) THEN \(createdAt) ELSE created_at
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
                    Int64(1).sqlValue, position.number.sqlValue,
                ]
            }
            let added = try transaction.rowsChanged(
                by: """
                    INSERT INTO following (application, follower, followed, is_kept, event)
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
                UPDATE announcement_recipients SET
                    status = \(recipient.status.rawValue), event = \(position)
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
        try insert(conversation)
        touch(.window, in: id)
        if conversation.deletedAt == nil { addToCounts(conversations: 1) }
        for alias in archived.aliases {
            try transaction.execute(
                """
                INSERT INTO conversation_aliases (application, alias, conversation, event, merged_at)
                SELECT application, \(alias), id, \(position), \(moment) FROM conversations
                WHERE application = \(application) AND id = \(id) AND NOT EXISTS (
                    SELECT 1 FROM conversations WHERE application = \(application) AND id = \(alias)
                )
                ON CONFLICT (application, alias) DO NOTHING
                """)
        }
        try createImportedUsers(archived.members.map(\.participant.userID))
        let isLarge = archived.members.count > Self.fewUsers
        for member in archived.members {
            try insert(member, conversation, withOthers: !isLarge)
        }
        try connect(archived)
        // Its messages follow, and need not read again what was written.
        var stored = conversation
        stored.participants = Participants([])
        transaction.cache(stored, for: Conversation.cacheKey(id, in: application))
        cache(
            ImportedViews(
                archived.members.map { member in ImportedViews.View(member, of: conversation) },
                hiddenKnownAt: 0 ... .max), of: id)
    }

    private func connect(_ archived: ArchivedConversation) throws {
        let users = archived.conversation.participants.users
        let haveAllSeen = archived.members.allSatisfy { member in
            member.participant.state != .unseen || member.participant.isFormer
        }
        guard users.count > 1, haveAllSeen, !archived.conversation.isWide else {
            return try connect(users, among: users, of: archived.conversation, isKept: false)
        }
        connectAll(users, isKept: false)
    }

    /// - Parameter withOthers: Whether the rows are inserted with those of other records of the commit; otherwise each is
    ///   inserted at once, so that they need no memory.
    private func insert(
        _ member: ArchivedParticipant, _ conversation: Conversation, withOthers: Bool
    ) throws {
        let (participant, id) = (member.participant, conversation.id)
        let row: InsertedRow =
            """
            (
                \(application), \(id), \(participant.userID), \(member.place),
                \(participant.past.text), \(participant.joinedAfter), \(participant.leftAfter),
                \(member.frozenMetadata?.columnBytes), \(conversation.createdAt),
                \(participant.state.rawValue), \(participant.clearedTo), \(member.shownFrom),
                \(conversation.createdAt), \(conversation.isWide && !participant.isFormer)
            )
            """
        let receipts: InsertedRow =
            """
            (
                \(application), \(id), \(participant.userID), \(member.receipts.delivered.text),
                \(member.receipts.read.text)
            )
            """
        let hasReceipts = member.receipts != Receipts()
        if hasReceipts { touch(.receipts, Array(participant.userID.text.utf8), in: id) }
        if withOthers {
            let key = application.bytes + id.bytes
            transaction.add(row, to: "participants", keys: key, by: Self.importedParticipants)
            if hasReceipts {
                transaction.add(receipts, to: "receipts", keys: key, by: Self.importedReceipts)
            }
        } else {
            try transaction.insert(
                row, by: Self.importedParticipants,
                changing: [.conversation(id, in: application, "participants")])
            if hasReceipts {
                try transaction.insert(
                    receipts, by: Self.importedReceipts,
                    changing: [.conversation(id, in: application, "receipts")])
            }
        }
        if participant.state == .shown { count(shown: [participant.userID], 1) }
        for chunk in Array(member.hidden.intervals.joined()).powerOfTwoChunks(upTo: 1024) {
            try transaction.execute(
                """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                SELECT \(application), \(id), column1, \(participant.userID)
                FROM \(table: "hidden", of: [.integers(chunk)])
                """,
                changing: [.conversation(id, in: application, "hidden_messages")])
        }
    }

    private static let importedParticipants = Insertion(
        """
        INSERT INTO participants (
            application, conversation, user_id, place, past, joined_after, left_after,
            frozen_metadata, conversation_created_at, state, cleared_to, shown_from, last_at, is_wide
        ) VALUES
        """)

    private static let importedReceipts = Insertion(
        "INSERT INTO receipts (application, conversation, user_id, delivered, read) VALUES")

    /// Inserts a message and counts it in every view.
    private func insert(_ archived: ArchivedMessage) throws {
        try insertRows(of: archived)
        try count([archived], in: archived.message.conversation)
    }

    /// Inserts a message without counting it.
    func insertRows(of archived: ArchivedMessage) throws {
        for content in archived.contents { try insert(content) }
        let message = archived.message
        insert(
            message, changed: position, blocksChangedAt: archived.blocksChangedAt,
            partsMade: archived.partsMade)
        for (part, place) in zip(message.parts, archived.places) {
            try insert(part, of: message.id, in: message.conversation)
            if let place { try move(part.index, to: place, in: message.id) }
        }
    }

    /// Counts inserted messages in their conversation and in every view. The event is that of the last one.
    func count(_ archived: [ArchivedMessage], in conversation: Conversation.ID) throws {
        touch(.counts, in: conversation)
        try count(imported: archived.map(\.message), in: conversation)
        try countInViews(archived, in: conversation)
    }

    /// Inserts hidden positions and receipts of a message whose position is not that of the record.
    func insert(_ recipients: [ArchivedMessage.Recipient], of message: Message) throws {
        let (place, conversation) = (message.position, message.conversation)
        for recipient in recipients {
            if recipient.isHidden {
                transaction.add(
                    "(\(application), \(conversation), \(place), \(recipient.user))",
                    to: "hidden_messages", keys: application.bytes + conversation.bytes,
                    by: Insertion(
                        """
                        INSERT INTO hidden_messages (application, conversation, position, user_id)
                        VALUES
                        """,
                        "ON CONFLICT (application, conversation, position, user_id) DO NOTHING"))
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
}
