import Messaging
import SQL

extension Projection {
    /// Inserts a conversation with the views of its participants.
    func create(_ created: ConversationCreated) throws {
        let conversation = created.conversation
        saveAbsence(of: conversation.id)
        try insert(conversation)
        touch(.window, in: conversation.id)
        addToCounts(conversations: 1)
        let users = conversation.participants.users
        if conversation.isWide {
            try insertParticipants(
                users, from: 0, of: conversation, after: conversation.lastPosition,
                isShown: conversation.isAnnounced)
        } else {
            insertParticipants(of: conversation)
        }
        // Before it is announced, its participants do not see it and so follow no one through it. Following through a
        // wide conversation is computed (ruling 39).
        let others = conversation.isAnnounced && !conversation.isWide ? users.count - 1 : 0
        let new = try createParticipants(
            users, isShown: conversation.isAnnounced, following: others)
        if conversation.isWide { try connect(users, among: users, of: conversation) }
        if others > 0 { connectAll(users, new: new) }
        remember(created.key, as: .conversation, for: conversation.id.bytes)
    }

    /// Inserts the row of a conversation.
    func insert(_ conversation: Conversation) throws {
        var distinctKey: [UInt8]?
        if conversation.isDistinct, conversation.deletedAt == nil {
            let set = DistinctKey(conversation.participants, hash: hash)
            // Only one conversation has the key: an imported one has none until it is merged with the one that has it,
            // and in a replay a created one may have none for the same reason (X1).
            if try transaction.queryDistinctConversation(of: set, in: application).first() == nil {
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
                \(conversation.metadata.columnBytes), \(conversation.version),
                \(conversation.participantCount), \(conversation.isWide), \(position)
            )
            """,
            to: "conversations", keys: application.bytes + conversation.id.bytes,
            application.bytes + (distinctKey ?? conversation.id.bytes), by: Self.conversations)
    }

    private static let conversations = Insertion(
        """
        INSERT INTO conversations (
            application, id, created_at, is_distinct, distinct_key, is_announced, deleted_at,
            last_position, last_sent_at, message_count, metadata, version, participant_count,
            is_wide, changed
        ) VALUES
        """)

    /// Inserts the participants of a new conversation that is not wide, with those of other new ones of the commit;
    /// `createParticipants` creates the users.
    private func insertParticipants(of conversation: Conversation) {
        let key = RowKey.conversation(conversation.id, in: application, "participants")
        transaction.deferWrite(
            conversation,
            of: RowCacheKey<Conversation>(of: [key], aspect: Array("created".utf8)),
            in: CommitGroup("created", in: application.bytes)
        ) { [application] conversations in
            conversations.flatMap { conversation in
                conversation.participants.users.enumerated().map { place, user in
                    NewParticipant(user: user, place: place, conversation: conversation)
                }
            }.powerOfTwoChunks(upTo: 256).map { new in
                """
                \(Self.participantColumns)
                SELECT \(application), column1, column2, column3, '', column4, column5, column6,
                    column7, 0, NULL, NULL, column5, 0
                FROM \(table: "new", of: [
                    .blobs(new.map(\.conversation.id.bytes)), .texts(new.map(\.user.text)),
                    .integers(new.map { new in Int64(new.place) }),
                    .integers(new.map(\.conversation.lastPosition.number)),
                    .integers(new.map(\.conversation.createdAt.milliseconds)),
                    .texts(new.map(\.state.rawValue)),
                    .integers(new.map(\.conversation.messageCount)),
                ])
                """
            }
        }
        transaction.invalidate([key])
    }

    private struct NewParticipant {
        let user: UserID
        let place: Int
        let conversation: Conversation

        var state: ViewState { conversation.isAnnounced ? .shown : .unseen }
    }

    /// Inserts users that have never been participants and see all messages; `createParticipants` creates the users.
    ///
    /// - Parameters:
    ///   - place: The index of the first in the order of participants.
    ///   - last: The last position of the conversation.
    ///   - newest: The last message of a conversation that is not wide; `nil` for none.
    func insertParticipants(
        _ users: [UserID], from place: Int, of conversation: Conversation, after last: Position,
        isShown: Bool, seeing newest: NewestMessage? = nil
    ) throws {
        let state = isShown ? ViewState.shown : .unseen
        let (id, isWide) = (conversation.id, conversation.isWide)
        let newestMessage: SQL =
            newest.map { newest in "\(newest.position), \(newest.id), \(newest.sentAt)" }
            ?? "NULL, NULL, \(conversation.createdAt)"
        for chunk in Array(users.enumerated()).powerOfTwoChunks(upTo: 1024) {
            try transaction.execute(
                """
                \(Self.participantColumns)
                SELECT \(application), \(id), named.column1, named.column2, '', \(last),
                    \(conversation.createdAt), \(state.rawValue),
                    \(isWide ? 0 : conversation.messageCount),
                    \(isWide ? -conversation.messageCount : 0), \(newestMessage), \(isWide)
                FROM \(table: "named", of: [
                    .texts(chunk.map(\.element.text)),
                    .integers(chunk.map { index, _ in Int64(place + index) }),
                ])
                """, changing: [.conversation(id, in: application, "participants")])
        }
    }

    private static let participantColumns: SQL =
        """
        INSERT INTO participants (
            application, conversation, user_id, place, past, joined_after,
            conversation_created_at, state, total_count, unread_count, last_position,
            last_message, last_at, is_wide
        )
        """

    /// Stores the replay key and the alias of a creation that found an existing conversation.
    func remember(_ match: ConversationMatched) throws {
        remember(match.key, as: .match, for: match.conversation.bytes)
        guard let alias = match.alias else { return }
        try transaction.execute(
            """
            UPDATE conversations SET changed = \(position)
            WHERE application = \(application) AND id = \(match.conversation)
            """, changing: [.conversation(match.conversation, in: application)])
        try transaction.execute(
            """
            INSERT INTO conversation_aliases (application, alias, conversation, event, merged_at)
            VALUES (\(application), \(alias), \(match.conversation), \(position), \(moment))
            ON CONFLICT (application, alias) DO NOTHING
            """)
    }

    func apply(_ change: MetadataChanged) throws {
        let id = change.conversation
        guard var conversation = try transaction.queryLocked(id, in: application).first() else {
            return
        }
        save(conversation)
        conversation.metadata = conversation.metadata.merging(change.writes)
        conversation.version += 1
        let row = RowCacheKey<(Conversation, LogPosition)>(
            of: [.conversation(id, in: application)], aspect: Array("metadata".utf8))
        transaction.deferWrite(
            (conversation, position), of: row, in: CommitGroup("metadata", in: application.bytes)
        ) { [application] changed in
            changed.powerOfTwoChunks(upTo: 256).map { changed in
                """
                UPDATE conversations SET metadata = column2, version = column3, changed = column4
                FROM \(table: "new", of: [
                    .blobs(changed.map(\.0.id.bytes)),
                    .blobs(changed.map(\.0.metadata.columnBytes)),
                    .integers(changed.map(\.0.version)), .integers(changed.map(\.1.number)),
                ])
                WHERE application = \(application) AND id = column1
                """
            }
        }
        transaction.cache(conversation, for: Conversation.cacheKey(id, in: application))
    }

    /// Deletes a conversation for all participants: removes it from all lists, drops its contents, and frees its
    /// distinct key (R18).
    ///
    /// The rows of its messages stay, unreachable, because deleting millions of them would delay other changes.
    func delete(_ id: Conversation.ID, at moment: Timestamp) throws {
        guard let before = try transaction.queryLocked(id, in: application).first() else { return }
        try saveWholeConversation(id)
        addToCounts(conversations: -1)
        try transaction.addToMessageCount(-before.messageCount, in: application)
        let users = try transaction.currentParticipants(of: id, in: application).users
        try disconnect(users, among: users, of: before)
        let seeing = try transaction.rows(
            """
            SELECT user_id FROM participants
            WHERE application = \(application) AND conversation = \(id) AND state = 'shown'
            """
        ) { row in try row.user(0) }
        for user in seeing { touch(.viewWindow, id.bytes, of: user, isGone: true) }
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
            UPDATE conversations SET
                deleted_at = \(moment), distinct_key = NULL, participant_count = 0, is_wide = 0
            WHERE application = \(application) AND id = \(id)
            """)
    }
}

extension Projection {
    /// Puts a conversation into the views of users.
    func show(_ shown: ConversationShown) throws {
        try saveParticipants(shown.users, of: shown.conversation)
        let unseen = try participantsNotSeeing(of: shown.conversation)
        let seeing = try transaction.rows(
            """
            UPDATE participants SET state = 'shown', shown_from = NULL
            WHERE application = \(application) AND conversation = \(shown.conversation)
                AND user_id \(in: shown.users) AND state <> 'shown'
            RETURNING user_id
            """
        ) { row in try row.user(0) }
        count(shown: seeing, 1)
        touchWindows(of: shown.conversation, seeing)
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
        count(shown: seeing, 1)
        touch(.window, in: id)
        try connect(seeing: seeing, of: id)
    }

    /// Notes that users see a conversation that they did not see before, or more of it.
    func touchWindows(of conversation: Conversation.ID, _ users: [UserID]) {
        for user in users { touch(.viewWindow, conversation.bytes, of: user) }
    }

    /// Removes a conversation from one view. If the user deleted it, all its messages are cleared from the view (R16);
    /// if they left it, none (R17).
    func hide(_ hidden: ConversationHidden) throws {
        try saveParticipants([hidden.user], of: hidden.conversation)
        let before = try transaction.participant(
            hidden.user, in: hidden.conversation, in: application)
        if let last = hidden.upTo {
            let count = try transaction.messageCount(in: hidden.conversation, in: application)
            try transaction.execute(
                """
                UPDATE participants SET
                    state = 'cleared', cleared_to = \(last),
                    unshown_count = unshown_count + total_count + is_wide * \(count),
                    total_count = -is_wide * \(count), unread_count = -is_wide * \(count),
                    last_position = NULL, last_message = NULL, last_at = conversation_created_at
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
        if before?.state == .shown {
            count(shown: [hidden.user], -1)
            touch(.viewWindow, hidden.conversation.bytes, of: hidden.user, isGone: true)
        }
    }

    /// Removes one message from one view (R29).
    func hide(_ hidden: MessageHidden) throws {
        let owner = ReceiptOwner(conversation: hidden.conversation, user: hidden.user)
        try saveHiddenPositions(of: owner)
        touch(.viewedMessage, hidden.message.bytes, of: hidden.user, isGone: true)
        touch(.view, hidden.conversation.bytes, of: hidden.user)
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

    /// Looks up the last message of views after a change other than sending (R27). Those of a wide conversation
    /// are looked up when they are read.
    ///
    /// - Parameters:
    ///   - user: The user of the view; `nil` for all participants.
    ///   - message: Only views whose last message has this position; `nil` for all views.
    func findLastMessage(
        in conversation: Conversation.ID, of user: UserID?, insteadOf message: Position?
    ) throws {
        try findLastMessages(
            in: conversation,
            where: """
                user_id = COALESCE(\(user), user_id)
                    AND COALESCE(last_position, 0) = COALESCE(\(message), last_position, 0)
                """)
    }

    /// The same for the views whose rows meet a condition.
    func findLastMessages(in conversation: Conversation.ID, where condition: SQL) throws {
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
                AND is_wide = 0 AND \(condition)
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
