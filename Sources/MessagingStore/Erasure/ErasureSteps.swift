import Messaging
import SQL

// What an erasure does with the rows that name the user. Each change can be repeated.
extension MutationContext {
    /// Removes the user from rows of a table.
    ///
    /// - Parameters:
    ///   - erasure: The id of the erasure.
    ///   - rows: Rows that were read before; they may have changed meanwhile.
    func erase(
        _ rows: [ErasureTable.Entry], of table: ErasureTable, _ payloads: ErasedPayloads,
        for erasure: Erasure.ID
    ) throws {
        switch table {
        case .events: try eraseEvents(rows, payloads, for: erasure)
        default: for row in rows { try erase(row, of: table, payloads, for: erasure) }
        }
    }

    private func erase(
        _ row: ErasureTable.Entry, of table: ErasureTable, _ payloads: ErasedPayloads,
        for erasure: Erasure.ID
    ) throws {
        let (user, erased) = (payloads.user, payloads.erased)
        switch table {
        case .scheduledMessages: try eraseScheduled(row, payloads)
        case .sessions, .devices, .wideStays, .unfollowed, .announcementRecipients, .touched:
            try delete(row, of: table)
        case .blocks:
            try record(
                .blocksChanged(
                    BlocksChanged(
                        owner: try row.user(0), added: [], removed: [try row.user(1)], at: now)))
        case .participants: try eraseParticipant(user, as: erased, in: try row.id(0))
        case .receipts:
            try rename(user, to: erased, "user_id", in: "receipts", row, of: table)
        case .hiddenMessages:
            try rename(user, to: erased, "user_id", in: "hidden_messages", row, of: table)
        case .following:
            try record(
                .followingChanged(
                    FollowingChanged(
                        follower: try row.user(0), added: [], removed: [try row.user(1)])))
            // Participants of a wide conversation follow each other until it has been worked on.
            try delete(row, of: table)
        case .messages: try eraseMessage(try row.message(), as: erased, for: erasure)
        case .deletedMessages:
            try rename(user, to: erased, "sender_user", in: "deleted_messages", row, of: table)
        case .announcements:
            try record(
                .announcementErased(
                    AnnouncementErased(announcement: try row.id(0), sender: erased, at: now)))
        case .contents: try eraseContent(row, payloads, of: table)
        case .pastBlocks:
            try rename(user, to: erased, "owner", in: "past_blocks", row, of: table)
            try rename(user, to: erased, "blocked", in: "past_blocks", row, of: table)
        case .identities: try eraseIdentity(of: user, as: erased)
        case .objectHistory: try eraseState(row, payloads, of: table)
        case .idempotencyKeys: try eraseAnswer(row, payloads, of: table)
        case .deliveries:
            let body = payloads.bodies.delivery(row.values[0].bytes)
            try transaction.execute(
                """
                UPDATE deliveries SET body = \(body), log = NULL, failure = NULL
                WHERE \(table.isRow(row, in: application))
                """)
        case .events: break
        }
    }

    private func delete(_ row: ErasureTable.Entry, of table: ErasureTable) throws {
        try transaction.execute(
            "DELETE FROM \(raw: table.layout.table) WHERE \(table.isRow(row, in: application))")
    }

    /// Renames the user in a column of a row, if the column has the user.
    private func rename(
        _ user: UserID, to erased: UserID, _ column: StaticString, in name: StaticString,
        _ row: ErasureTable.Entry, of table: ErasureTable
    ) throws {
        try transaction.execute(
            """
            UPDATE \(raw: name) SET \(raw: column) = \(erased)
            WHERE \(table.isRow(row, in: application)) AND \(raw: column) = \(user)
            """)
    }
}

extension ErasureTable {
    /// Whether a row has the key of another.
    fileprivate func isRow(_ row: Entry, in application: Application.ID) -> SQL {
        "application = \(application) AND (\(raw: layout.key)) = (\(values: row.key))"
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
    fileprivate func message() throws -> Message.ID {
        guard let id = Message.ID(bytes: values[0].bytes) else {
            throw StoreFault.unreadable("messages.id")
        }
        return id
    }
}

// MARK: - Objects

extension MutationContext {
    /// Drops a scheduled message of the user; of another sender's, only the notification names the user.
    private func eraseScheduled(_ row: ErasureTable.Entry, _ payloads: ErasedPayloads) throws {
        let message = try payloads.scheduled(row).message
        guard try transaction.scheduledMessage(message.id, in: application) != nil else { return }
        guard message.draft.sender.userID != payloads.erased else {
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
        let patches = [ConversationPatch.removeParticipant(user)]
        if let participant = try transaction.participant(user, in: conversation, in: application),
            !participant.isFormer
        {
            let before = try transaction.lockedConversation(
                conversation, toApply: patches, in: application)
            for event in try before.patching(patches, limits, at: now) { try record(event) }
        }
        for table in ["participants", "receipts"] as [StaticString] {
            try transaction.execute(
                """
                UPDATE \(raw: table) SET user_id = \(erased)
                WHERE application = \(application) AND conversation = \(conversation)
                    AND user_id = \(user)
                """)
        }
        try record(
            .participantErased(
                ParticipantErased(conversation: conversation, user: erased, at: now)))
    }

    /// Makes a message a tombstone. In a deleted conversation, which no reader sees, no event is recorded.
    private func eraseMessage(
        _ id: Message.ID, as erased: UserID, for erasure: Erasure.ID
    ) throws {
        guard let message = try transaction.message(id, in: application) else { return }
        for content in Set(message.contents(at: message.parts.map(\.index))) {
            try transaction.execute(
                """
                INSERT INTO erased_contents (application, erasure, content)
                VALUES (\(application), \(erasure), \(content))
                ON CONFLICT (application, erasure, content) DO NOTHING
                """)
        }
        guard try transaction.isLive(message.conversation, in: application) else {
            return try transaction.erase(
                message, as: erased, at: now, changed: nil, in: application)
        }
        try record(
            .messageErased(
                MessageErased(
                    message: id, conversation: message.conversation, sender: erased, at: now)))
    }

    /// Deletes a content that the user has uploaded, unless messages of others use it.
    private func eraseContent(
        _ row: ErasureTable.Entry, _ payloads: ErasedPayloads, of table: ErasureTable
    ) throws {
        if row.values[1].number == 0, try withdraw(try row.id(0)) { return }
        try rename(
            payloads.user, to: payloads.erased, "uploader", in: "contents", row, of: table)
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
        try transaction.execute(
            """
            UPDATE object_history SET object = \(found.object), state = \(found.state)
            WHERE \(table.isRow(row, in: application))
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
            WHERE \(table.isRow(row, in: application))
            """)
    }
}

// MARK: - The log

extension MutationContext {
    /// Rewrites events: they stay at their positions, and name the erased user.
    private func eraseEvents(
        _ rows: [ErasureTable.Entry], _ payloads: ErasedPayloads, for erasure: Erasure.ID
    ) throws {
        for row in rows {
            let type = row.values[0].string
            let event = try payloads.event(type: type, row.values[1].bytes).event
            let isActor = UserID(stored: row.values[2].string) == payloads.user
            try transaction.execute(
                """
                UPDATE events SET
                    payload = \(try payloads.reduced(event).stored.encoded),
                    actor_user = \(isActor ? payloads.erased.text.sqlValue : row.values[2])
                WHERE \(ErasureTable.events.isRow(row, in: application))
                """)
        }
    }
}

extension Transaction {
    /// Finds out which messages and contents that events name without their user belong to the user.
    func find(
        in rows: [ErasureTable.Entry], _ payloads: inout ErasedPayloads, for erasure: Erasure.ID,
        in application: Application.ID
    ) throws {
        var (messages, contents): (Set<Message.ID>, Set<Content.ID>) = ([], [])
        for row in rows {
            switch EventType(rawValue: row.values[0].string) {
            case .messageUpdated, .contentUploaded, .recordImported:
                switch try payloads.event(type: row.values[0].string, row.values[1].bytes).event {
                case .partsChanged(let change): messages.insert(change.message)
                case .contentUploaded(let uploaded): contents.insert(uploaded.content.id)
                case .recordImported(let imported):
                    if case .content(let archived) = imported.record {
                        contents.insert(archived.content.id)
                    }
                default: break
                }
            default: break
            }
        }
        let senders = [payloads.user, payloads.erased]
        payloads.messages = []
        for table in ["messages", "deleted_messages"] as [StaticString] where !messages.isEmpty {
            payloads.messages.formUnion(
                try self.rows(
                    """
                    SELECT id FROM \(raw: table)
                    WHERE application = \(application) AND id \(in: messages)
                        AND sender_user \(in: senders)
                    """
                ) { row in try row.id(0) as Message.ID })
        }
        payloads.contents =
            contents.isEmpty
            ? []
            : Set(
                try self.rows(
                    """
                    SELECT content FROM erased_contents
                    WHERE application = \(application) AND erasure = \(erasure)
                        AND content \(in: contents)
                    """
                ) { row in try row.id(0) as Content.ID })
    }
}

extension ErasedPayloads {
    /// Whether an event that does not name the user belongs to a message or content of the user.
    func isOwn(_ row: ErasureTable.Entry) throws -> Bool {
        guard !messages.isEmpty || !contents.isEmpty else { return false }
        switch try event(type: row.values[0].string, row.values[1].bytes).event {
        case .partsChanged(let change): return messages.contains(change.message)
        case .contentUploaded(let uploaded): return contents.contains(uploaded.content.id)
        case .recordImported(let imported):
            if case .content(let archived) = imported.record {
                return contents.contains(archived.content.id)
            }
            return false
        default: return false
        }
    }
}
