public import Messaging
import SQL

extension MessagingStore {
    /// Deletes a message for all participants (R29).
    ///
    /// - Parameters:
    ///   - conversation: The conversation it must belong to; `nil` for any.
    ///   - demand: The required version of the message (X4).
    /// - Returns: The own id of its conversation, also when an alias was given.
    /// - Throws: `Rejection.notFound` of the conversation or the message, also when it is already deleted;
    ///   `objectDeleted`; `VersionMismatch<MessageSnapshot>`.
    @discardableResult
    public func deleteMessage(
        _ id: Message.ID, in conversation: Conversation.ID?, if demand: VersionPrecondition = .any,
        in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(
            in: application,
            prefetching: { transaction in
                _ = try conversation.map { named in
                    try transaction.queryLocked(named, in: application)
                }
                try transaction.prefetchMessage(id, in: application)
                try transaction.prefetchReceipts(of: id, in: application)
            }
        ) { context in
            let message = try context.transaction.liveMessage(
                id, in: conversation, in: application)
            try demand.check(message.version) { try context.snapshot(of: message) }
            try context.remove(message)
            return message.conversation
        }
    }

    /// Deletes a message on behalf of a user, for all participants or only for the user (R29).
    ///
    /// - Throws: `Rejection`: `notFound` of the user or of a message they do not see; `accessDenied` for a
    ///   former participant that deletes it for others (R14); `VersionMismatch<MessageSnapshot>`.
    public func deleteMessage(
        _ id: Message.ID, forAll: Bool, by user: UserID, if demand: VersionPrecondition = .any,
        in application: Application.ID
    ) async throws {
        try await change(
            in: application,
            prefetching: { transaction in
                try transaction.prefetchMessage(id, in: application)
                try transaction.prefetchView(of: id, by: user, in: application)
                guard forAll else { return }
                try transaction.prefetchReceipts(of: id, in: application)
            }
        ) { context in
            let transaction = context.transaction
            try transaction.requireUser(user, in: application)
            let message = try transaction.visibleMessage(id, for: user, in: application)
            let (_, participant) = try transaction.lockedConversationRow(
                message.conversation, for: user, in: application)
            if forAll { try participant.requireWriting() }
            try demand.check(message.version) {
                try context.snapshot(of: message, seenBy: .user(user))
            }
            guard forAll else {
                return try context.record(
                    .messageHidden(
                        MessageHidden(
                            message: message.id, conversation: message.conversation,
                            position: message.position, user: user, at: context.now)))
            }
            try context.remove(message)
        }
    }
}

extension MutationContext {
    /// Deletes a message for all participants. The event contains its last state and the status of its recipients.
    fileprivate func remove(_ message: Message) throws {
        let conversation = try transaction.lockedConversationRow(
            message.conversation, in: application)
        guard !conversation.isWide else {
            let counts = try transaction.recipientCounts(of: [message], in: application)
            return try record(
                .messageDeleted(
                    MessageDeleted(
                        message: message, recipients: [],
                        recipientCounts: counts[message.id] ?? RecipientCounts(), at: now)))
        }
        let recipients = MessageSource(
            message, from: nil,
            to: try transaction.participantReceipts(in: message.conversation, in: application)
        ).snapshot(seenBy: nil).recipients.map { recipient in
            MessageDeleted.Recipient(user: recipient.userID, status: recipient.status)
        }
        try record(
            .messageDeleted(MessageDeleted(message: message, recipients: recipients, at: now)))
    }
}

extension Projection {
    /// Stores the last position of a message that is about to be deleted, for readers of the log.
    func remember(deleted message: Message) throws {
        try transaction.execute(
            """
            INSERT INTO deleted_messages (
                application, id, conversation, position, sender_user, sent, event
            )
            SELECT application, id, conversation, position, sender_user, event, \(position)
            FROM messages
            WHERE application = \(application) AND id = \(message.id)
            """, reading: [.message(message.id, in: application)])
    }

    /// Deletes the rows of a message and subtracts it from every count (R29).
    func delete(_ message: Message) throws {
        let (id, conversation) = (message.id, message.conversation)
        touch(.message, id.bytes, in: conversation, isGone: true, at: message.position)
        touch(.counts, in: conversation)
        try transaction.execute(
            "DELETE FROM parts WHERE application = \(application) AND message = \(id)",
            changing: [.message(id, in: application, "parts")])
        try transaction.execute(
            "DELETE FROM messages WHERE application = \(application) AND id = \(id)",
            changing: [
                .message(id, in: application),
                .message(at: message.position, in: conversation, of: application),
                .conversation(conversation, in: application, "messages"),
            ])
        try release(message.contents(at: message.parts.map(\.index)), in: conversation)
        try subtract(message.position, sentBy: message.sender.userID, in: conversation)
        // Its id stays reserved, so that a late retry does not send it again (ruling 12).
        remember(Replay.Key(id), as: .message, for: id.bytes)
    }

    /// Subtracts a message from the counts of all views: of those that show it, and of those that do not.
    private func subtract(
        _ position: Position, sentBy sender: UserID?, in conversation: Conversation.ID
    ) throws {
        let before = try transaction.queryLocked(conversation, in: application)
        try transaction.addToMessageCount(-1, in: application)
        let hiddenFrom = try queryUsersNotSeeing(position, in: conversation)
        let readers = try readers(of: position, in: conversation) + [sender].compactMap(\.self)
        let hidden = try hiddenFrom.rows()
        try transaction.execute(
            """
            UPDATE conversations SET message_count = message_count - 1
            WHERE application = \(application) AND id = \(conversation)
            """, changing: [.conversation(conversation, in: application)])
        if var after = try before.first() {
            after.messageCount -= 1
            transaction.cache(after, for: Conversation.cacheKey(conversation, in: application))
        }
        // Only the counts of participants change, so what else is cached of them stays valid.
        transaction.invalidate([.viewCounts(of: conversation, in: application)])
        try subtract(position, readBy: readers, in: conversation)
        // Reads as of an earlier event must still hide the message (rulings 20, 27).
        for user in hidden {
            try saveHiddenPositions(of: ReceiptOwner(conversation: conversation, user: user))
        }
        if !hidden.isEmpty {
            try transaction.execute(
                """
                DELETE FROM hidden_messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND position = \(position)
                """)
        }
        try findLastMessage(in: conversation, of: nil, insteadOf: position)
    }

    /// Subtracts a message from the counts of all views: of those that show it, and of those that do not.
    ///
    /// The counts of a wide conversation change with its number of messages, so only the rows are written for which
    /// they would change wrongly.
    ///
    /// - Parameter readers: The users for which it is not unread, whether they see it or not.
    private func subtract(
        _ position: Position, readBy readers: [UserID], in conversation: Conversation.ID
    ) throws {
        let rows = ["participants", "hidden_messages"].map { table in
            RowKey.conversation(conversation, in: application, table)
        }
        let isHidden: SQL =
            """
            EXISTS (
                SELECT 1 FROM hidden_messages h
                WHERE h.application = \(application) AND h.conversation = \(conversation)
                    AND h.position = \(position) AND h.user_id = participants.user_id
            )
            """
        let isReached: SQL =
            """
            application = \(application) AND conversation = \(conversation)
                AND (left_after IS NULL OR left_after >= \(position))
            """
        try transaction.execute(
            """
            UPDATE participants SET
                unshown_count = unshown_count - 1, total_count = total_count + is_wide,
                unread_count = unread_count + is_wide
            WHERE \(isReached) AND (cleared_to >= \(position) OR \(isHidden))
            """, reading: rows)
        try transaction.execute(
            """
            UPDATE participants SET
                total_count = total_count - (1 - is_wide),
                unread_count = unread_count
                    - (CASE WHEN joined_after < \(position) THEN 1 ELSE 0 END - is_wide)
            WHERE \(isReached) AND (is_wide = 0 OR joined_after >= \(position))
                AND cleared_to < \(position) AND NOT \(isHidden)
            """, reading: rows)
        for chunk in Set(readers).sorted().chunks(of: 4096) {
            try transaction.execute(
                """
                UPDATE participants SET unread_count = unread_count + 1
                WHERE \(isReached) AND joined_after < \(position)
                    AND cleared_to < \(position) AND NOT \(isHidden) AND user_id \(in: chunk)
                """, reading: rows)
        }
    }

    /// Queries the participants that do not see the message at a position, because it is hidden from them.
    func queryUsersNotSeeing(
        _ position: Position, in conversation: Conversation.ID
    ) throws -> DeferredRows<UserID> {
        try transaction.query(
            """
            SELECT user_id FROM hidden_messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position = \(position)
            ORDER BY user_id
            """,
            as: Transaction.usersNotSeeing(position, in: conversation, of: application)
        ) { row in try row.user(0) }
    }

    /// The participants that have read the message at a position, by user id.
    private func readers(of position: Position, in conversation: Conversation.ID) throws -> [UserID]
    {
        let isWide =
            try transaction.queryLocked(conversation, in: application).first()?.isWide == true
        guard isWide else {
            return try transaction.participantReceipts(in: conversation, in: application)
                .filter { entry in entry.receipts?.read.contains(position.number) == true }
                .map(\.participant.userID)
                .sorted()
        }
        return try transaction.receipts(in: [conversation], in: application)
            .filter { _, receipts in receipts.read.contains(position.number) }
            .map(\.key.user)
            .sorted()
    }
}

extension Transaction {
    /// The cache key of the participants that the message at a position is hidden from.
    static func usersNotSeeing(
        _ position: Position, in conversation: Conversation.ID, of application: Application.ID
    ) -> RowCacheKey<UserID> {
        RowCacheKey(
            of: [.conversation(conversation, in: application, "hidden_messages")],
            aspect: Array("users not seeing \(position.number)".utf8))
    }
}
