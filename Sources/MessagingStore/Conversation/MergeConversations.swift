import Messaging
import SQL

extension MutationContext {
    /// Merges a distinct conversation with the existing one of the same participants (X1).
    ///
    /// The messages of the loser come after those of the winner, until ``MessagingStore/sortMessages(of:in:atMost:taking:)`` has
    /// sorted them. Repeating it changes nothing; nor does it change a conversation that is not distinct.
    ///
    /// - Parameter id: Its own id or an alias.
    /// - Returns: The id of the winner.
    /// - Throws: `Rejection.notFound(.conversation)`, `objectDeleted`.
    @discardableResult
    func reconcile(_ id: Conversation.ID) throws -> Conversation.ID {
        let own = try transaction.lockedConversation(id, in: application)
        guard own.isDistinct else { return own.id }
        let holder = try transaction.distinctConversation(
            of: DistinctKey(own.participants, hash: hash), in: application)
        guard holder?.id != own.id else { return own.id }
        let messages = try transaction.messageExtent(of: own, in: application)
        guard let holder else {
            // Its row has no distinct key yet.
            let mergeable = try transaction.mergeable(own, with: messages, in: application)
            try record(
                .conversationMerged(
                    ConversationMerged(
                        mergeable, losing: nil, relocations: [], views: [:], at: now)))
            return own.id
        }
        let others = try transaction.messageExtent(of: holder, in: application)
        let areBothUsed = !messages.isEmpty && !others.isEmpty
        let (mergeable, other) = (
            try transaction.mergeable(
                own, with: messages, knowingFirst: areBothUsed, in: application),
            try transaction.mergeable(
                holder, with: others, knowingFirst: areBothUsed, in: application)
        )
        let (merged, relocations) = mergeable.merging(other)
        let loser = merged.id == own.id ? other : mergeable
        try record(
            .conversationMerged(
                ConversationMerged(
                    merged, losing: loser, relocations: relocations, views: merged.views, at: now)))
        // The projection does not do this, because deliveries do not follow from the log.
        try transaction.joinLanes(of: loser.id, into: merged.id, in: application)
        return merged.id
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
    /// - Parameters:
    ///   - loser: `nil` when messages of a single conversation were sorted.
    ///   - views: The views to write.
    init(
        _ merged: MergeableConversation, losing loser: MergeableConversation?,
        relocations: [Relocation], views: [UserID: MergeableView], at moment: Timestamp
    ) {
        self.init(
            winner: merged.id, loser: loser?.id,
            aliases: loser.map { loser in loser.aliases.union([loser.id]).sorted() } ?? [],
            metadata: merged.metadata, isAnnounced: merged.isAnnounced,
            lastPosition: merged.lastPosition, unsortedFrom: merged.unsortedFrom,
            relocations: relocations,
            views: views.sorted { left, right in left.key < right.key }
                .map { user, view in View(user, view) }, at: moment)
    }
}

extension Transaction {
    /// A distinct conversation with everything that merging needs (X1).
    ///
    /// Its participants have never changed; otherwise it would not be distinct (R5). So there are no former ones.
    ///
    /// - Parameters:
    ///   - messages: Positions that include those of all its messages.
    ///   - isFirstKnown: Whether the earliest time of a message is needed.
    func mergeable(
        _ conversation: Conversation, with messages: IntervalSet,
        knowingFirst isFirstKnown: Bool = false, in application: Application.ID
    ) throws -> MergeableConversation {
        let id = conversation.id
        let (unsortedFrom, first) =
            try first(
                """
                SELECT unsorted_from, CASE WHEN \(isFirstKnown) = 1 THEN (
                    SELECT MIN(sent_at) FROM messages
                    WHERE application = \(application) AND conversation = \(id)
                ) END
                FROM conversations WHERE application = \(application) AND id = \(id)
                """
            ) { row in (try row.optionalTimestamp(0), try row.optionalTimestamp(1)) } ?? (nil, nil)
        return MergeableConversation(
            id: id, createdAt: conversation.createdAt,
            aliases: try aliases(of: id, in: application), metadata: conversation.metadata,
            isAnnounced: conversation.isAnnounced, lastPosition: conversation.lastPosition,
            occupied: messages, firstSentAt: first, unsortedFrom: unsortedFrom,
            views: try mergeableViews(of: conversation, in: application))
    }

    /// Positions that include those of all messages of a conversation: one interval, unless it has so few messages that
    /// repeated merges would let positions grow without limit.
    fileprivate func messageExtent(
        of conversation: Conversation, in application: Application.ID
    ) throws -> IntervalSet {
        let (id, widestGap) = (conversation.id, Int64(1024))
        let messages: SQL =
            "FROM messages WHERE application = \(application) AND conversation = \(id)"
        let bounds = try first(
            "SELECT (SELECT MIN(position) \(messages)), (SELECT MAX(position) \(messages))"
        ) { row in (first: try row.optionalInt64(0), last: try row.optionalInt64(1)) }
        guard let first = bounds?.first, let last = bounds?.last else { return IntervalSet() }
        guard last - first >= widestGap * max(conversation.messageCount, 1) else {
            return IntervalSet(first...last)
        }
        let gaps = try rows(
            """
            SELECT position, next FROM (
                SELECT position, LEAD(position) OVER (ORDER BY position) AS next \(messages)
            ) AS neighbours
            WHERE next - position > \(widestGap) ORDER BY position
            """
        ) { row in (end: try row.int64(0), next: try row.int64(1)) }
        return IntervalSet(
            zip([first] + gaps.map(\.next), gaps.map(\.end) + [last]).map { low, high in
                low...high
            })
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
    /// Merges two conversations (X1), or sorts messages of one.
    ///
    /// Counts add up: each message stays visible, unread or hidden as it was at its previous position.
    func merge(_ merge: ConversationMerged) throws {
        guard let loser = merge.loser else { return try sort(merge) }
        let conversations = try [merge.winner, loser].compactMap { id in
            try transaction.queryLocked(id, in: application).first()
        }
        for conversation in conversations {
            try saveWholeConversation(conversation.id)
            try saveHiddenPositions(in: conversation.id, of: nil)
            if conversation.isWide { try setWide(false, conversation) }
        }
        try relocate(merge)
        if let winner = conversations.first, let loser = conversations.last {
            try subtractSharedCounts(loser, winner)
            try moveRows(loser.id, merge)
        }
        try write(merge)
        try moveTouched(of: loser, to: merge.winner)
        try writeViews(merge)
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

    /// Sorts messages of a conversation, which change no count.
    private func sort(_ sort: ConversationMerged) throws {
        let users = Set(sort.views.map(\.user))
        try saveConversation(sort.winner)
        if !users.isEmpty {
            try saveParticipants(users.sorted(), of: sort.winner)
            for (owner, receipts) in try transaction.receipts(in: [sort.winner], in: application)
            where users.contains(owner.user) {
                save(receipts, of: owner)
            }
            try saveHiddenPositions(in: sort.winner, of: users)
        }
        try relocate(sort)
        try write(sort)
        try transaction.execute(
            """
            UPDATE participants SET shown_from = NULL
            WHERE application = \(application) AND conversation = \(sort.winner)
                AND shown_from IS NOT NULL
            """)
        try writeViews(sort)
    }

    private func writeViews(_ merge: ConversationMerged) throws {
        touch(.window, in: merge.winner)
        try deleteViewState(of: merge.views.map(\.user), in: merge.winner)
        for entry in merge.views { try write(entry.view, of: entry.user, in: merge.winner) }
        try findLastMessage(in: merge.winner, of: nil, insteadOf: nil)
    }

    /// Notes that an imported message may be out of order, before it is counted.
    func noteUnsorted(_ message: Message) throws {
        let id = message.conversation
        guard let conversation = try transaction.queryLocked(id, in: application).first(),
            conversation.isDistinct, let last = conversation.lastSentAt, message.sentAt <= last
        else { return }
        let row = RowCacheKey<Timestamp>(
            of: [.conversation(id, in: application)], aspect: Array("unsorted".utf8))
        let first = min(transaction.deferred(row) ?? message.sentAt, message.sentAt)
        transaction.deferWrite(first, of: row) { [application] in
            """
            UPDATE conversations SET unsorted_from = CASE
                WHEN unsorted_from < \(first) THEN unsorted_from ELSE \(first)
            END
            WHERE application = \(application) AND id = \(id)
            """
        }
    }

    /// Moves messages to their new positions, which were never used, so no two messages ever share one.
    ///
    /// A wide range is moved by a separate statement. If the messages of the two conversations alternate, each message
    /// is a range; so narrow ranges are combined, and one statement moves many messages by their positions.
    /// Messages that are sorted have changed in the feeds of users; with a merge, the users receive the window again.
    private func relocate(_ merge: ConversationMerged) throws {
        let changed = merge.loser == nil ? position : nil
        let relocations = merge.relocations.filter { relocation in
            relocation.conversation != merge.winner || !relocation.isUnmoved
        }
        for relocation in relocations where relocation.isWide {
            try transaction.execute(
                """
                UPDATE messages SET
                    conversation = \(merge.winner), position = position + \(relocation.shift),
                    changed = COALESCE(\(changed), changed)
                WHERE application = \(application) AND conversation = \(relocation.conversation)
                    AND position BETWEEN \(relocation.from) AND \(relocation.through)
                """)
        }
        let narrow = relocations.filter { relocation in !relocation.isWide }
        for (conversation, ranges) in Dictionary(grouping: narrow, by: \.conversation) {
            try relocate(
                ranges.flatMap(\.moves), of: conversation, into: merge.winner, changed: changed)
        }
    }

    /// - Parameter moves: Sorted by position.
    private func relocate(
        _ moves: [(from: Int64, to: Int64)], of conversation: Conversation.ID,
        into winner: Conversation.ID, changed: LogPosition?
    ) throws {
        for chunk in moves.powerOfTwoChunks(upTo: Self.movesAtOnce) {
            try transaction.execute(
                .moving(
                    chunk.map(\.from), to: chunk.map(\.to), of: conversation, into: winner,
                    changed: changed, in: application))
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
        try deleteViewState(of: merge.views.map(\.user), in: loser)
        try moveContents(of: loser, to: winner)
        try transaction.execute(
            """
            UPDATE conversation_aliases SET conversation = \(winner)
            WHERE application = \(application) AND conversation = \(loser)
            """)
        try transaction.execute(
            """
            INSERT INTO conversation_aliases (application, alias, conversation, event, merged_at)
            VALUES (\(application), \(loser), \(winner), \(position), \(moment))
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
            SELECT a.user_id FROM participants a CROSS JOIN participants b
            WHERE a.application = \(application) AND a.conversation = \(one) AND a.state = 'shown'
                AND b.application = a.application AND b.conversation = \(two)
                AND b.user_id = a.user_id AND b.state = 'shown'
            ORDER BY a.user_id
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
                last_position = \(merge.lastPosition), changed = \(position),
                unsorted_from = \(merge.unsortedFrom)
            WHERE application = \(application) AND id = \(merge.winner)
            """)
    }

    /// Deletes the receipts and hidden positions of participants before they are inserted again.
    private func deleteViewState(of users: [UserID], in id: Conversation.ID) throws {
        for chunk in users.chunks(of: 4096) {
            for table in ["receipts", "hidden_messages"] as [StaticString] {
                try transaction.execute(
                    """
                    DELETE FROM \(raw: table)
                    WHERE application = \(application) AND conversation = \(id)
                        AND user_id \(in: chunk)
                    """)
            }
        }
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
        for chunk in view.hidden.intervals.powerOfTwoChunks(upTo: Self.movesAtOnce) {
            try transaction.execute(
                """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                SELECT m.application, m.conversation, m.position, \(user)
                FROM \(table: "hidden", of: [
                    .integers(chunk.map(\.lowerBound)), .integers(chunk.map(\.upperBound)),
                ])
                JOIN messages m ON m.application = \(application)
                    AND m.conversation = \(conversation)
                    AND m.position BETWEEN hidden.column1 AND hidden.column2
                """)
        }
    }
}

extension SQL {
    /// Moves messages from their former positions, which are sorted, to new ones. The bounds limit what is read by a
    /// query plan that does not look up each position.
    static func moving(
        _ former: [Int64], to new: [Int64], of conversation: Conversation.ID,
        into winner: Conversation.ID, changed: LogPosition?, in application: Application.ID
    ) -> SQL {
        """
        UPDATE messages SET
            conversation = \(winner), position = moved.column2,
            changed = COALESCE(\(changed), changed)
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
