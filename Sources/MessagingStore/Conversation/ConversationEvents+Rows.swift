import Messaging
import SQL

extension Projection {
    /// Inserts a conversation with the views of its participants.
    func create(_ created: ConversationCreated) throws {
        let conversation = created.conversation
        saveAbsence(of: conversation.id)
        try insert(conversation)
        addToCounts(conversations: 1)
        let users = conversation.participants.users
        for (place, user) in users.enumerated() { insert(user, at: place, of: conversation) }
        // Before it is announced, its participants do not see it and so follow no one through it.
        let others = conversation.isAnnounced ? users.count - 1 : 0
        let new = try createParticipants(
            users, isShown: conversation.isAnnounced, following: others)
        if others > 0 { connectAll(users, new: new) }
        remember(created.key, as: .conversation, for: conversation.id.bytes)
    }

    private func insert(_ conversation: Conversation) throws {
        var distinctKey: [UInt8]?
        if conversation.isDistinct {
            let set = DistinctKey(conversation.participants, hash: hash)
            // In a command the answer is known; in a replay an imported conversation may have the key (X1).
            if try transaction.askDistinctConversation(of: set, in: application).first() == nil {
                distinctKey = set.digest
            }
        }
        transaction.add(
            """
            (
                \(application), \(conversation.id), \(conversation.createdAt),
                \(conversation.isDistinct), \(distinctKey), \(conversation.isAnnounced),
                \(conversation.deletedAt), \(conversation.lastPosition),
                \(conversation.lastSentAt), \(conversation.messageCount),
                \(conversation.metadata.columnBytes), \(conversation.version)
            )
            """,
            to: "conversations", keys: application.bytes + conversation.id.bytes,
            application.bytes + (distinctKey ?? conversation.id.bytes), by: Self.conversations)
    }

    private static let conversations = Insertion(
        """
        INSERT INTO conversations (
            application, id, created_at, is_distinct, distinct_key, is_announced, deleted_at,
            last_position, last_sent_at, message_count, metadata, version
        ) VALUES
        """)

    /// Inserts a participant of a new conversation; `createParticipants` creates the user.
    private func insert(_ user: UserID, at place: Int, of conversation: Conversation) {
        let state = conversation.isAnnounced ? ViewState.shown : .unseen
        transaction.add(
            """
            (
                \(application), \(conversation.id), \(user), \(place), '',
                \(conversation.lastPosition), \(conversation.createdAt), \(state.rawValue),
                \(conversation.messageCount), \(conversation.createdAt)
            )
            """,
            to: "participants", keys: application.bytes + conversation.id.bytes,
            by: Self.participants)
    }

    private static let participants = Insertion(
        """
        INSERT INTO participants (
            application, conversation, user_id, place, past, joined_after,
            conversation_created_at, state, total_count, last_at
        ) VALUES
        """)

    /// The key of a set of participants, or NULL while another conversation has it: an imported conversation
    /// has no key until the two are merged (X1).
    func distinctKeyIfFree(of participants: Participants) -> SQL {
        let key = DistinctKey(participants, hash: hash)
        return """
            CASE WHEN EXISTS (
                SELECT 1 FROM conversations
                WHERE application = \(application) AND distinct_key = \(key.digest)
            ) THEN NULL ELSE \(key.digest) END
            """
    }

    /// Stores the replay key and the alias of a creation that found an existing conversation.
    func remember(_ match: ConversationMatched) throws {
        remember(match.key, as: .match, for: match.conversation.bytes)
        guard let alias = match.alias else { return }
        try transaction.execute(
            """
            INSERT INTO conversation_aliases (application, alias, conversation)
            VALUES (\(application), \(alias), \(match.conversation))
            ON CONFLICT (application, alias) DO NOTHING
            """)
    }

    func apply(_ change: MetadataChanged) throws {
        let id = change.conversation
        guard var conversation = try transaction.askLocked(id, in: application).first() else {
            return
        }
        save(conversation)
        conversation.metadata = conversation.metadata.merging(change.writes)
        conversation.version += 1
        let (metadata, version) = (conversation.metadata, conversation.version)
        let row = RowCacheKey<Void>(
            of: [.conversation(id, in: application)], aspect: Array("metadata".utf8))
        transaction.deferWrite((), of: row) { [application] in
            """
            UPDATE conversations SET metadata = \(metadata.columnBytes), version = \(version)
            WHERE application = \(application) AND id = \(id)
            """
        }
        transaction.cache(conversation, for: Conversation.cacheKey(id, in: application))
    }

    /// Deletes a conversation for all participants: removes it from all lists, drops its contents, and frees its
    /// distinct key (R18).
    ///
    /// The rows of its messages stay, unreachable, because deleting millions of them would delay other changes.
    func delete(_ id: Conversation.ID, at moment: Timestamp) throws {
        try saveWholeConversation(id)
        addToCounts(conversations: -1)
        let users = try transaction.currentParticipants(of: id, in: application).users
        try disconnect(users, among: users, of: id)
        try transaction.execute(
            """
            UPDATE identities SET conversation_count = conversation_count - 1
            WHERE application = \(application) AND user_id IN (
                SELECT user_id FROM participants
                WHERE application = \(application) AND conversation = \(id)
                    AND state = 'shown'
            )
            """)
        try transaction.execute(
            "DELETE FROM participants WHERE application = \(application) AND conversation = \(id)")
        try transaction.execute(
            "DELETE FROM receipts WHERE application = \(application) AND conversation = \(id)")
        try dropContents(of: id)
        try transaction.execute(
            """
            UPDATE conversations SET deleted_at = \(moment), distinct_key = NULL
            WHERE application = \(application) AND id = \(id)
            """)
    }
}

extension Projection {
    /// Puts a conversation into the views of users.
    func show(_ shown: ConversationShown) throws {
        try saveParticipants(of: shown.conversation)
        let unseen = try participantsNotSeeing(of: shown.conversation)
        let seeing = try transaction.rows(
            """
            UPDATE participants SET state = 'shown', shown_from = NULL
            WHERE application = \(application) AND conversation = \(shown.conversation)
                AND user_id \(in: shown.users) AND state <> 'shown'
            RETURNING user_id
            """
        ) { row in try row.user(0) }
        try count(shown: seeing, 1)
        try connect(seeing: seeing.filter(unseen.contains), of: shown.conversation)
    }

    /// Puts a conversation into the views of all current participants that have not seen it yet.
    func announce(_ id: Conversation.ID) throws {
        try saveParticipants(of: id)
        try transaction.execute(
            "UPDATE conversations SET is_announced = 1 WHERE application = \(application) AND id = \(id)"
        )
        let seeing = try transaction.rows(
            """
            UPDATE participants SET state = 'shown'
            WHERE application = \(application) AND conversation = \(id)
                AND left_after IS NULL AND state = 'unseen'
            RETURNING user_id
            """
        ) { row in try row.user(0) }
        try count(shown: seeing, 1)
        try connect(seeing: seeing, of: id)
    }

    /// Removes a conversation from one view. If the user deleted it, all its messages are cleared from the view (R16);
    /// if they left it, none (R17).
    func hide(_ hidden: ConversationHidden) throws {
        try saveParticipants(of: hidden.conversation)
        let before = try transaction.participant(
            hidden.user, in: hidden.conversation, in: application)
        if let last = hidden.upTo {
            try transaction.execute(
                """
                UPDATE participants SET
                    state = 'cleared', cleared_to = \(last),
                    unshown_count = unshown_count + total_count, total_count = 0,
                    unread_count = 0, last_position = NULL, last_message = NULL,
                    last_at = conversation_created_at
                WHERE application = \(application) AND conversation = \(hidden.conversation)
                    AND user_id = \(hidden.user)
                """)
        } else {
            try transaction.execute(
                """
                UPDATE participants SET state = 'left'
                WHERE application = \(application) AND conversation = \(hidden.conversation)
                    AND user_id = \(hidden.user)
                """)
        }
        if before?.state == .shown { try count(shown: [hidden.user], -1) }
    }

    /// Removes one message from one view (R29).
    func hide(_ hidden: MessageHidden) throws {
        let owner = ReceiptOwner(conversation: hidden.conversation, user: hidden.user)
        try saveHiddenPositions(of: owner)
        let isRead = try transaction.receipts(of: owner, in: application).read
            .contains(hidden.position.number)
        let participant = try transaction.participant(
            hidden.user, in: hidden.conversation, in: application)
        let sender = try transaction.sender(of: hidden.message, in: application)
        let wasUnread =
            !isRead && sender != hidden.user && participant?.isInStay(hidden.position) == true
        try transaction.execute(
            """
            INSERT INTO hidden_messages (application, conversation, position, user_id)
            VALUES (\(application), \(hidden.conversation), \(hidden.position), \(hidden.user))
            """)
        try transaction.execute(
            """
            UPDATE participants SET
                total_count = total_count - 1, unshown_count = unshown_count + 1,
                unread_count = unread_count - \(wasUnread ? 1 : 0)
            WHERE application = \(application) AND conversation = \(hidden.conversation)
                AND user_id = \(hidden.user)
            """)
        try findLastMessage(
            in: hidden.conversation, of: hidden.user, insteadOf: hidden.position)
    }

    /// Adds to the number of conversations in each user's list.
    func count(shown users: [UserID], _ change: Int64) throws {
        guard !users.isEmpty else { return }
        try transaction.execute(
            """
            UPDATE identities SET conversation_count = conversation_count + \(change)
            WHERE application = \(application) AND user_id \(in: users)
            """)
    }

    /// Looks up the last message of views after a change other than sending (R27).
    ///
    /// - Parameters:
    ///   - user: The user of the view; `nil` for all participants.
    ///   - message: Only views whose last message has this position; `nil` for all views.
    func findLastMessage(
        in conversation: Conversation.ID, of user: UserID?, insteadOf message: Position?
    ) throws {
        try transaction.execute(
            """
            UPDATE participants SET
                (last_position, last_message) = (
                    SELECT m.position, m.id \(raw: Self.visibleMessages)
                    ORDER BY m.position DESC LIMIT 1
                ),
                last_at = COALESCE((
                    SELECT m.sent_at \(raw: Self.visibleMessages)
                    ORDER BY m.position DESC LIMIT 1
                ), conversation_created_at)
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = COALESCE(\(user), user_id)
                AND COALESCE(last_position, 0) = COALESCE(\(message), last_position, 0)
            """,
            reading: [
                .conversation(conversation, in: application, "participants"),
                .conversation(conversation, in: application, "messages"),
                .conversation(conversation, in: application, "hidden_messages"),
            ])
    }

    /// The messages in the view of a row of `participants`.
    private static let visibleMessages: StaticString =
        """
        FROM messages m
        WHERE m.application = participants.application
            AND m.conversation = participants.conversation
            AND m.position > participants.cleared_to
            AND m.position <= COALESCE(participants.left_after, m.position)
            AND NOT EXISTS (
                SELECT 1 FROM hidden_messages h
                WHERE h.application = m.application AND h.conversation = m.conversation
                    AND h.position = m.position AND h.user_id = participants.user_id
            )
        """
}
