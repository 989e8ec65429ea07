import Messaging
import SQL

extension MutationContext {
    /// Merges a distinct conversation with the existing one of the same participants (X1), or, if there is no
    /// other, sorts its messages by the time of sending.
    ///
    /// Repeating it changes nothing; nor does it change a conversation that is not distinct.
    ///
    /// - Parameter id: Its own id or an alias.
    /// - Returns: The id of the winner, and whether anything has changed.
    /// - Throws: `Rejection.notFound(.conversation)`, `objectDeleted`.
    @discardableResult
    func reconcile(_ id: Conversation.ID) throws -> (winner: Conversation.ID, hasChanged: Bool) {
        let own = try transaction.lockedConversation(id, in: application)
        guard own.isDistinct else { return (own.id, false) }
        let mergeable = try transaction.mergeable(own, in: application)
        let holder = try transaction.distinctConversation(
            of: DistinctKey(own.participants, hash: hash), in: application)
        guard let holder, holder.id != own.id else {
            return (own.id, try order(mergeable, isHolder: holder != nil))
        }
        let other = try transaction.mergeable(holder, in: application)
        let (merged, relocations) = mergeable.merging(other)
        let loser = merged.id == own.id ? other : mergeable
        try record(
            .conversationMerged(
                ConversationMerged(merged, losing: loser, relocations: relocations, at: now)))
        // The projection does not do this, because deliveries do not follow from the log.
        try transaction.joinLanes(of: loser.id, into: merged.id, in: application)
        return (merged.id, true)
    }

    /// Sorts the messages of the only distinct conversation of its participants by the time of sending.
    ///
    /// - Parameter isHolder: Whether its row already has the distinct key of the participants.
    /// - Returns: Whether anything has changed.
    private func order(_ mergeable: MergeableConversation, isHolder: Bool) throws -> Bool {
        let (ordered, relocations) = mergeable.inOrder
        guard !isHolder || !relocations.allSatisfy(\.isUnmoved) else { return false }
        try record(
            .conversationMerged(
                ConversationMerged(ordered, losing: nil, relocations: relocations, at: now)))
        return true
    }

    /// The conversation with this id or alias; `nil` when the id is unused.
    func holder(of id: Conversation.ID) throws -> Conversation? {
        do {
            return try transaction.lockedConversation(id, in: application)
        } catch Rejection.notFound(.conversation) {
            return nil
        }
    }
}

extension ConversationMerged {
    /// - Parameter loser: `nil` when a single conversation was sorted.
    fileprivate init(
        _ merged: MergeableConversation, losing loser: MergeableConversation?,
        relocations: [Relocation],
        at moment: Timestamp
    ) {
        self.init(
            winner: merged.id, loser: loser?.id,
            aliases: loser.map { loser in loser.aliases.union([loser.id]).sorted() } ?? [],
            metadata: merged.metadata, isAnnounced: merged.isAnnounced,
            lastPosition: merged.lastPosition, relocations: relocations,
            views: merged.views.sorted { left, right in left.key < right.key }
                .map { user, view in View(user, view) }, at: moment)
    }
}

extension Transaction {
    /// A distinct conversation with everything that merging needs (X1).
    ///
    /// Its participants have never changed; otherwise it would not be distinct (R5). So there are no former ones.
    func mergeable(
        _ conversation: Conversation, in application: Application.ID
    ) throws -> MergeableConversation {
        MergeableConversation(
            id: conversation.id, createdAt: conversation.createdAt,
            aliases: try aliases(of: conversation.id, in: application),
            metadata: conversation.metadata, isAnnounced: conversation.isAnnounced,
            lastPosition: conversation.lastPosition,
            messages: try positionedMessages(in: conversation.id, in: application),
            views: try mergeableViews(of: conversation, in: application))
    }

    /// The aliases of a conversation.
    func aliases(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> Set<Conversation.ID> {
        Set(
            try query(
                """
                SELECT alias FROM conversation_aliases
                WHERE application = \(application) AND conversation = \(conversation)
                """,
                as: Self.aliases(of: conversation, in: application)
            ) { row in try row.id(0) }.rows())
    }

    /// The aliases of several conversations.
    func aliases(
        of conversations: [Conversation.ID], in application: Application.ID
    ) throws -> [Conversation.ID: [Conversation.ID]] {
        let found = try rows(
            """
            SELECT conversation, alias FROM conversation_aliases
            WHERE application = \(application) AND conversation \(in: conversations)
            """
        ) { row in (try row.id(0) as Conversation.ID, try row.id(1) as Conversation.ID) }
        return Dictionary(grouping: found, by: \.0).mapValues { found in found.map(\.1) }
    }

    /// The cache key of the aliases of a conversation.
    static func aliases(
        of conversation: Conversation.ID, in application: Application.ID
    ) -> RowCacheKey<Conversation.ID> {
        RowCacheKey(
            of: [.conversation(conversation, in: application, "conversation_aliases")],
            aspect: Array("aliases".utf8))
    }

    private func positionedMessages(
        in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [MergeableConversation.PositionedMessage] {
        try rows(
            """
            SELECT id, sent_at, position FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
            ORDER BY position
            """
        ) { row in
            MergeableConversation.PositionedMessage(
                try row.id(0), sentAt: try row.timestamp(1), position: try row.position(2))
        }
    }

    /// The view of each participant.
    private func mergeableViews(
        of conversation: Conversation, in application: Application.ID
    ) throws -> [UserID: MergeableView] {
        let participants = try participants(
            of: [conversation.id], reachedFrom: .start, in: application
        ).map(\.participant)
        let receipts = try receipts(in: [conversation.id], in: application)
        let hidden = try hidden(in: [conversation.id], in: application)
        return Dictionary(
            uniqueKeysWithValues: participants.map { participant in
                let user = participant.userID
                let owner = ReceiptOwner(conversation: conversation.id, user: user)
                let view = MergeableView(
                    state: participant.state, clearedTo: participant.clearedTo,
                    hidden: IntervalSet(hidden[owner] ?? []),
                    receipts: receipts[owner] ?? Receipts())
                return (user, view)
            })
    }

    /// The positions of the single messages that each participant does not see.
    ///
    /// - Parameter range: Only these positions.
    func hidden(
        in conversations: [Conversation.ID], at range: ClosedRange<Int64> = 0 ... .max,
        in application: Application.ID
    ) throws -> [ReceiptOwner: [ClosedRange<Int64>]] {
        let found = try rows(
            """
            SELECT conversation, user_id, position FROM hidden_messages
            WHERE application = \(application) AND conversation \(in: conversations)
                AND position BETWEEN \(range.lowerBound) AND \(range.upperBound)
            """
        ) { row in
            (
                owner: ReceiptOwner(conversation: try row.id(0), user: try row.user(1)),
                position: try row.int64(2)
            )
        }
        return Dictionary(grouping: found, by: \.owner)
            .mapValues { entries in entries.map { entry in entry.position...entry.position } }
    }
}

extension Projection {
    /// Merges two conversations (X1), or sorts the messages of one.
    ///
    /// Counts add up: each message stays visible, unread or hidden as it was at its previous position.
    func merge(_ merge: ConversationMerged) throws {
        let conversations = try [merge.winner, merge.loser].compactMap { id in
            try id.flatMap { id in try transaction.queryLocked(id, in: application).first() }
        }
        for conversation in conversations {
            try saveWholeConversation(conversation.id)
            try saveHiddenPositions(in: conversation.id)
            if conversation.isWide { try setWide(false, conversation) }
        }
        try relocate(merge)
        if merge.loser != nil, let winner = conversations.first, let loser = conversations.last {
            try subtractSharedCounts(loser, winner)
            try moveRows(loser.id, merge)
        }
        try write(merge)
        touch(.window, in: merge.winner)
        if let loser = merge.loser {
            try moveTouched(of: loser, to: merge.winner)
        } else {
            try touchMessages(of: merge.winner)
        }
        try deleteViewState(of: merge.winner)
        for entry in merge.views { try write(entry.view, of: entry.user, in: merge.winner) }
        try findLastMessage(in: merge.winner, of: nil, insteadOf: nil)
        if conversations.first?.isWide == true,
            let after = try transaction.queryLocked(merge.winner, in: application).first()
        {
            try setWide(true, after)
            try transaction.execute(
                """
                UPDATE wide_stays SET sees_since = \(position)
                WHERE application = \(application) AND conversation = \(merge.winner)
                    AND until IS NULL AND sees_since IS NULL AND user_id IN (
                        SELECT user_id FROM participants
                        WHERE application = \(application) AND conversation = \(merge.winner)
                            AND state <> 'unseen'
                    )
                """)
        }
    }

    /// Moves messages to their new positions, which were never used, so no two messages ever share one.
    ///
    /// A wide range is moved by a separate statement. If the messages of the two conversations alternate, each message
    /// is a range; so narrow ranges are combined, and one statement moves many messages by their positions.
    private func relocate(_ merge: ConversationMerged) throws {
        let relocations = merge.relocations.filter { relocation in
            relocation.conversation != merge.winner || !relocation.isUnmoved
        }
        for relocation in relocations where relocation.isWide {
            try transaction.execute(
                """
                UPDATE messages SET
                    conversation = \(merge.winner), position = position + \(relocation.shift)
                WHERE application = \(application) AND conversation = \(relocation.conversation)
                    AND position BETWEEN \(relocation.from) AND \(relocation.through)
                """)
        }
        let narrow = relocations.filter { relocation in !relocation.isWide }
        for (conversation, ranges) in Dictionary(grouping: narrow, by: \.conversation) {
            try relocate(ranges.flatMap(\.moves), of: conversation, into: merge.winner)
        }
    }

    /// - Parameter moves: Sorted by position.
    private func relocate(
        _ moves: [(from: Int64, to: Int64)], of conversation: Conversation.ID,
        into winner: Conversation.ID
    ) throws {
        for chunk in moves.powerOfTwoChunks(upTo: Self.movesAtOnce) {
            try transaction.execute(
                .moving(
                    chunk.map(\.from), to: chunk.map(\.to), of: conversation, into: winner,
                    in: application))
        }
    }

    /// The maximum number of messages that one statement moves by their positions; a power of two.
    private static let movesAtOnce = 1_024

    /// Moves all other rows of the loser, whose id becomes an alias.
    private func moveRows(_ loser: Conversation.ID, _ merge: ConversationMerged) throws {
        let winner = merge.winner
        try transaction.execute(
            """
            UPDATE participants SET
                total_count = participants.total_count + l.total_count,
                unshown_count = participants.unshown_count + l.unshown_count,
                unread_count = participants.unread_count + l.unread_count
            FROM participants l
            WHERE participants.application = \(application)
                AND participants.conversation = \(winner)
                AND l.application = \(application) AND l.conversation = \(loser)
                AND l.user_id = participants.user_id
            """)
        try transaction.execute(
            """
            DELETE FROM participants
            WHERE application = \(application) AND conversation = \(loser)
            """)
        try deleteViewState(of: loser)
        try moveContents(of: loser, to: winner)
        try transaction.execute(
            """
            UPDATE conversation_aliases SET conversation = \(winner)
            WHERE application = \(application) AND conversation = \(loser)
            """)
        try transaction.execute(
            """
            INSERT INTO conversation_aliases (application, alias, conversation)
            VALUES (\(application), \(loser), \(winner))
            """)
        try transaction.execute(
            """
            UPDATE conversations SET
                message_count = conversations.message_count + l.message_count,
                last_sent_at = CASE
                    WHEN COALESCE(conversations.last_sent_at, l.last_sent_at) < l.last_sent_at
                    THEN l.last_sent_at ELSE COALESCE(conversations.last_sent_at, l.last_sent_at)
                END,
                version = 1 + CASE
                    WHEN conversations.version < l.version THEN l.version
                    ELSE conversations.version
                END
            FROM conversations l
            WHERE conversations.application = \(application) AND conversations.id = \(winner)
                AND l.application = \(application) AND l.id = \(loser)
            """)
        try transaction.execute(
            "DELETE FROM conversations WHERE application = \(application) AND id = \(loser)")
        addToCounts(conversations: -1)
    }

    /// Subtracts one of the two conversations from the lengths of lists that contain both. If only one is wide, the other
    /// no longer connects its participants.
    private func subtractSharedCounts(_ loser: Conversation, _ winner: Conversation) throws {
        try count(shown: seeing(loser.id, winner.id), -1)
        guard loser.isWide || winner.isWide else { return }
        let users = try transaction.currentParticipants(of: loser.id, in: application).users
        if !loser.isWide { try rememberUnfollowed(in: loser.id) }
        try disconnect(users, among: users, of: loser)
    }

    /// The users that see both conversations.
    private func seeing(_ one: Conversation.ID, _ two: Conversation.ID) throws -> [UserID] {
        try transaction.rows(
            """
            SELECT user_id FROM participants
            WHERE application = \(application) AND conversation IN (\(one), \(two))
                AND state = 'shown'
            GROUP BY user_id HAVING COUNT(*) = 2 ORDER BY user_id
            """
        ) { row in try row.user(0) }
    }

    /// Updates the row of the winner, which has the distinct key of the participants from now on (R3).
    private func write(_ merge: ConversationMerged) throws {
        let users = try transaction.currentParticipants(of: merge.winner, in: application)
        try transaction.execute(
            """
            UPDATE conversations SET
                is_distinct = 1, distinct_key = \(DistinctKey(users, hash: hash).digest),
                is_announced = \(merge.isAnnounced), metadata = \(merge.metadata.columnBytes),
                last_position = \(merge.lastPosition), changed = \(position)
            WHERE application = \(application) AND id = \(merge.winner)
            """)
    }

    /// Deletes the receipts and hidden positions of all participants before they are inserted again.
    private func deleteViewState(of id: Conversation.ID) throws {
        try transaction.execute(
            "DELETE FROM receipts WHERE application = \(application) AND conversation = \(id)")
        try transaction.execute(
            """
            DELETE FROM hidden_messages WHERE application = \(application) AND conversation = \(id)
            """)
    }

    private func write(_ view: MergeableView, of user: UserID, in conversation: Conversation.ID)
        throws
    {
        // No message has brought the merged conversation into the view.
        try transaction.execute(
            """
            UPDATE participants SET
                state = \(view.state.rawValue), cleared_to = \(view.clearedTo), shown_from = NULL
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user)
            """)
        if view.receipts != Receipts() {
            touch(.receipts, Array(user.text.utf8), in: conversation)
            try transaction.execute(
                """
                INSERT INTO receipts (application, conversation, user_id, delivered, read)
                VALUES (
                    \(application), \(conversation), \(user), \(view.receipts.delivered.text),
                    \(view.receipts.read.text)
                )
                """)
        }
        for interval in view.hidden.intervals {
            try transaction.execute(
                """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                SELECT application, conversation, position, \(user) FROM messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                """)
        }
    }
}

extension SQL {
    /// Moves messages from their former positions, which are sorted, to new ones. The bounds limit what is read by a
    /// query plan that does not look up each position.
    static func moving(
        _ former: [Int64], to new: [Int64], of conversation: Conversation.ID,
        into winner: Conversation.ID, in application: Application.ID
    ) -> SQL {
        """
        UPDATE messages SET conversation = \(winner), position = moved.column2
        FROM \(table: "moved", of: [.integers(former), .integers(new)])
        WHERE application = \(application) AND conversation = \(conversation)
            AND position = moved.column1
            AND position BETWEEN \(former.first) AND \(former.last)
        """
    }
}

extension Relocation {
    /// Whether it has so many positions that a separate statement costs less than naming each of them.
    fileprivate var isWide: Bool { through.number - from.number >= 64 }

    /// The former and the new position of each message.
    fileprivate var moves: [(from: Int64, to: Int64)] {
        (from.number...through.number).map { position in (position, position + shift) }
    }
}
