import Messaging
import SQL

// What an erasure does with the rows that name the user. A change and the progress are one transaction, so none is made twice.
extension MutationContext {
    /// Removes the user from a row of a table.
    ///
    /// - Parameters:
    ///   - row: A row that was read before; it may have changed meanwhile.
    ///   - erasure: The id of the erasure.
    func erase(
        _ row: ErasureTable.Entry, of table: ErasureTable, _ payloads: ErasedPayloads,
        for erasure: Erasure.ID
    ) throws {
        let (user, erased) = (payloads.user, payloads.erased)
        switch table {
        case .scheduledMessages: try eraseScheduled(row, payloads, for: erasure)
        case .sessions, .devices, .wideStays, .unfollowed, .announcementRecipients, .touched:
            try delete(row, of: table)
        case .blocks:
            try record(
                .blocksChanged(
                    BlocksChanged(
                        owner: try row.user(0), added: [], removed: [try row.user(1)], at: now)))
        case .participants: try eraseParticipant(user, as: erased, in: try row.id(0))
        case .receipts, .hiddenMessages: try rename(user, to: erased, "user_id", row, of: table)
        case .following:
            try record(
                .followingChanged(
                    FollowingChanged(
                        follower: try row.user(0), added: [], removed: [try row.user(1)])))
            // Participants of a wide conversation follow each other until it has been worked on.
            try delete(row, of: table)
        case .messages: try eraseMessage(row, as: erased, for: erasure)
        case .deletedMessages:
            try rename(user, to: erased, "sender_user", row, of: table)
        case .announcements:
            try record(
                .announcementErased(
                    AnnouncementErased(announcement: try row.id(0), sender: erased, at: now)))
        case .contents: try eraseContent(row, payloads, for: erasure)
        case .pastBlocks:
            let isOwner = row.key[0].isName(of: user)
            try rename(user, to: erased, isOwner ? "owner" : "blocked", row, of: table)
        case .identities: try eraseIdentity(of: user, as: erased)
        case .objectHistory: try eraseState(row, payloads, of: table)
        case .idempotencyKeys: try eraseAnswer(row, payloads, of: table)
        case .deliveries:
            let body = row.values[0].bytes
            let reduced = payloads.namesUser(body) ? payloads.bodies.delivery(body) : body
            try transaction.execute(
                """
                UPDATE deliveries SET body = \(reduced), log = NULL, failure = NULL
                WHERE \(table.isRow(row.key, in: application))
                """)
        case .events: try eraseEvent(row, payloads, for: erasure)
        }
    }

    private func delete(_ row: ErasureTable.Entry, of table: ErasureTable) throws {
        try transaction.execute(
            "DELETE FROM \(raw: table.layout.table) WHERE \(table.isRow(row.key, in: application))")
    }

    /// Renames the user in a column of a row, if the column has the user.
    private func rename(
        _ user: UserID, to erased: UserID, _ column: StaticString, _ row: ErasureTable.Entry,
        of table: ErasureTable
    ) throws {
        let key = row.key.map { value in value.isName(of: user) ? erased.text.sqlValue : value }
        guard try !deleteIfRenamed(row, to: key, of: table) else { return }
        try transaction.execute(
            """
            UPDATE \(raw: table.layout.table) SET \(raw: column) = \(erased)
            WHERE \(table.isRow(row.key, in: application)) AND \(raw: column) = \(user)
            """)
    }

    /// Deletes a row if the table has one of the erased user in its place. An erasure that failed has renamed that one, and
    /// a write made the user part of the object again before the erasure was repeated.
    private func deleteIfRenamed(
        _ row: ErasureTable.Entry, to key: [SQLValue], of table: ErasureTable
    ) throws -> Bool {
        guard key != row.key else { return false }
        let found = try transaction.first(
            """
            SELECT 1 FROM \(raw: table.layout.table) WHERE \(table.isRow(key, in: application))
            """
        ) { _ in true }
        guard found != nil else { return false }
        try delete(row, of: table)
        return true
    }
}

extension ErasureTable {
    /// Whether a row has a key.
    fileprivate func isRow(_ key: [SQLValue], in application: Application.ID) -> SQL {
        "application = \(application) AND (\(raw: layout.key)) = (\(values: key))"
    }
}

extension ErasureTable.Entry {
    fileprivate func user(_ index: Int) throws -> UserID {
        guard let user = UserID(stored: key[index].string) else {
            throw StoreFault.unreadable("user in a key")
        }
        return user
    }

    fileprivate func id<Subject>(_ index: Int) throws -> Identifier<Subject> {
        guard let id = Identifier<Subject>(bytes: key[index].bytes) else {
            throw StoreFault.unreadable("identifier in a key")
        }
        return id
    }

    /// The message of a row of `messages`.
    func message() throws -> Message.ID {
        guard let id = Message.ID(bytes: values[0].bytes) else {
            throw StoreFault.unreadable("messages.id")
        }
        return id
    }
}

// MARK: - Objects

extension MutationContext {
    /// Drops a scheduled message of the user; of another sender's, only the notification names the user.
    private func eraseScheduled(
        _ row: ErasureTable.Entry, _ payloads: ErasedPayloads, for erasure: Erasure.ID
    ) throws {
        let message = try payloads.scheduled(row).message
        guard try transaction.scheduledMessage(message.id, in: application) != nil else { return }
        guard message.draft.sender.userID != payloads.erased else {
            try transaction.noteErased(
                payloads.ownContents(in: message.draft), for: erasure, in: application)
            return try record(
                .scheduleEnded(ScheduleEnded(message: message.id, isSent: false, at: now)))
        }
        var writer = ByteWriter()
        try payloads.reduced(message).write(to: &writer)
        try transaction.execute(
            """
            UPDATE scheduled_messages SET payload = \(writer.bytes)
            WHERE application = \(application) AND id = \(message.id)
            """)
    }

    /// Makes the user leave a conversation, and renames the participation, which then names the erased user.
    private func eraseParticipant(
        _ user: UserID, as erased: UserID, in conversation: Conversation.ID
    ) throws {
        let found = try transaction.participant(user, in: conversation, in: application)
        // The conversation may have been deleted or merged since the row was read.
        guard let participant = found else { return }
        if !participant.isFormer {
            let patches = [ConversationPatch.removeParticipant(user)]
            let before = try transaction.lockedConversation(
                conversation, toApply: patches, in: application)
            for event in try before.patching(patches, limits, at: now) { try record(event) }
        }
        // Readers need a participant together with its receipts; receipts without a participant are renamed with their
        // table.
        let row = ErasureTable.Entry(
            key: [conversation.bytes.sqlValue, user.text.sqlValue], values: [])
        for table in [ErasureTable.participants, .receipts] {
            try rename(user, to: erased, "user_id", row, of: table)
        }
        try record(
            .participantErased(
                ParticipantErased(conversation: conversation, user: erased, at: now)))
    }

    /// Makes a message a tombstone. In a deleted conversation, which no reader sees, no event is recorded.
    private func eraseMessage(
        _ row: ErasureTable.Entry, as erased: UserID, for erasure: Erasure.ID
    ) throws {
        // As commands that change parts do, which check the sender under this lock.
        let conversation = try transaction.queryLocked(row.id(0), in: application).first()
        // After a merge the row has another key; the proof finds it there.
        guard let message = try transaction.message(row.message(), in: application),
            try message.conversation == row.id(0)
        else { return }
        try transaction.noteErased(
            message.contents(at: message.parts.map(\.index)), for: erasure, in: application)
        guard let conversation, conversation.deletedAt == nil else {
            return try transaction.erase(
                message, as: erased, at: now, changed: nil, in: application)
        }
        try record(
            .messageErased(
                MessageErased(
                    message: message.id, conversation: message.conversation, sender: erased,
                    at: now)))
    }

    /// Deletes a content that the user has uploaded, unless messages of others use it.
    private func eraseContent(
        _ row: ErasureTable.Entry, _ payloads: ErasedPayloads, for erasure: Erasure.ID
    ) throws {
        let id: Content.ID = try row.id(0)
        try transaction.noteErased([id], for: erasure, in: application)
        if row.values[1].number == 0, try withdraw(id) { return }
        try transaction.execute(
            """
            UPDATE contents SET uploader = \(payloads.erased), file_name = NULL
            WHERE application = \(application) AND id = \(id) AND uploader = \(payloads.user)
            """)
    }

    /// Renames the row of the user, which has no identity any more.
    private func eraseIdentity(of user: UserID, as erased: UserID) throws {
        guard try transaction.user(erased, in: application) == nil else {
            // A write has created the user again.
            try transaction.execute(
                "DELETE FROM identities WHERE application = \(application) AND user_id = \(user)")
            return try transaction.execute(
                """
                UPDATE applications SET user_count = user_count - 1
                WHERE application = \(application)
                """)
        }
        try transaction.execute(
            """
            UPDATE identities SET
                user_id = \(erased), display_name = NULL, avatar_url = NULL,
                kind = \(Identity.Kind.user.rawValue),
                status = \(User.IdentityStatus.unknown.rawValue), is_suspended = 0,
                sessions_ended_at = NULL, external_unread_count = 0, following_count = 0,
                first_name = NULL, last_name = NULL, phone_number = NULL, email_address = NULL,
                metadata = NULL, public_key = NULL, announcement_count = 0
            WHERE application = \(application) AND user_id = \(user)
            """)
    }

    private func eraseState(
        _ row: ErasureTable.Entry, _ payloads: ErasedPayloads, of table: ErasureTable
    ) throws {
        let found = try payloads.state(of: row.key[0].bytes, row.values[0].bytes)
        let key = [SQLValue.blob(found.object)] + row.key.dropFirst()
        guard try !deleteIfRenamed(row, to: key, of: table) else { return }
        try transaction.execute(
            """
            UPDATE object_history SET object = \(found.object), state = \(found.state)
            WHERE \(table.isRow(row.key, in: application))
            """)
    }

    /// Deletes the user's key, or the answer that is stored under another key: the request is still not repeated.
    private func eraseAnswer(
        _ row: ErasureTable.Entry, _ payloads: ErasedPayloads, of table: ErasureTable
    ) throws {
        if UserID(stored: row.key[0].string) == payloads.user {
            return try delete(row, of: table)
        }
        try transaction.execute(
            """
            UPDATE idempotency_keys SET fields = \([UInt8]()), body = NULL
            WHERE \(table.isRow(row.key, in: application))
            """)
    }
}

// MARK: - The log

extension MutationContext {
    /// Rewrites an event: it stays at its position, and names the erased user.
    private func eraseEvent(
        _ row: ErasureTable.Entry, _ payloads: ErasedPayloads, for erasure: Erasure.ID
    ) throws {
        guard let event = row.event?.value else { return }
        try transaction.noteErased(payloads.ownContents(in: event), for: erasure, in: application)
        let isActor = UserID(stored: row.values[2].string) == payloads.user
        try transaction.execute(
            """
            UPDATE events SET
                payload = \(try payloads.reduced(event).stored.encoded),
                actor_user = \(isActor ? payloads.erased.text.sqlValue : row.values[2])
            WHERE \(ErasureTable.events.isRow(row.key, in: application))
            """)
    }
}

extension Transaction {
    /// Stores contents of the user, whose file names are removed from the log.
    fileprivate func noteErased(
        _ contents: [Content.ID], for erasure: Erasure.ID, in application: Application.ID
    ) throws {
        for content in Set(contents) {
            try execute(
                """
                INSERT INTO erased_contents (application, erasure, content)
                VALUES (\(application), \(erasure), \(content))
                ON CONFLICT (application, erasure, content) DO NOTHING
                """)
        }
    }

    /// Adds the messages and contents of the user that events name without their user.
    ///
    /// The log is read in descending order, because the events that show to whom a content belongs follow the event that
    /// has its file name.
    func addObjectsOfUser(
        in rows: [ErasureTable.Entry], to payloads: inout ErasedPayloads, for erasure: Erasure.ID,
        in application: Application.ID
    ) throws {
        let users = [payloads.user, payloads.erased]
        var (messages, contents): (Set<Message.ID>, Set<Content.ID>) = ([], [])
        for row in rows {
            switch row.event?.value.objectWithUnnamedOwner {
            case .message(let id): messages.insert(id)
            case .content(let id):
                contents.insert(id)
                if users.contains(where: row.values[2].isName) { payloads.contents.insert(id) }
            case nil: break
            }
        }
        for table in ["messages", "deleted_messages"] as [StaticString] where !messages.isEmpty {
            payloads.messages.formUnion(
                try self.rows(
                    """
                    SELECT id FROM \(raw: table)
                    WHERE application = \(application) AND id \(in: messages)
                        AND sender_user \(in: users)
                    """
                ) { row in try row.id(0) as Message.ID })
        }
        guard !contents.isEmpty else { return }
        for row in rows {
            guard let event = row.event?.value else { continue }
            payloads.contents.formUnion(payloads.ownContents(in: event))
        }
        payloads.contents.formUnion(
            try self.rows(
                """
                SELECT content FROM erased_contents
                WHERE application = \(application) AND erasure = \(erasure)
                    AND content \(in: contents)
                """
            ) { row in try row.id(0) as Content.ID })
    }
}
