import Messaging
import SQL

/// A current or former participant with the conversation and their index in its order of participants.
struct PositionedParticipant {
    let conversation: Conversation.ID
    /// The index in the order of participants, from 0.
    let place: Int64
    let participant: Participant

    /// Whether one comes before another: by index, and then by user id, because former participants may share an index.
    static func precedes(_ left: PositionedParticipant, _ right: PositionedParticipant) -> Bool {
        (left.place, left.participant.userID) < (right.place, right.participant.userID)
    }
}

extension PositionedParticipant {
    /// The columns that ``init(_:)`` reads, in this order.
    static let columns: SQL = "\(raw: Participant.columns), conversation, place"

    init(_ row: borrowing Row) throws {
        self.init(
            conversation: try row.id(6), place: try row.int64(7), participant: try Participant(row))
    }
}

extension Transaction {
    /// The current participants of a conversation, in order.
    func currentParticipants(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> Participants {
        Participants(try queryCurrentParticipants(of: conversation, in: application).rows())
    }

    /// Queries the current participants of a conversation, in order.
    func queryCurrentParticipants(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<UserID> {
        try query(
            currentParticipants(of: conversation, in: application),
            as: RowCacheKey(
                of: [.conversation(conversation, in: application, "participants")],
                aspect: Array("current".utf8))
        ) { row in try row.user(0) }
    }

    private func currentParticipants(
        of conversation: Conversation.ID, in application: Application.ID
    ) -> SQL {
        """
        SELECT user_id FROM participants
        WHERE application = \(application) AND conversation = \(conversation)
            AND left_after IS NULL
        ORDER BY place
        """
    }

    /// The number of messages of a conversation, without deleted ones.
    func messageCount(
        in conversation: Conversation.ID, in application: Application.ID
    ) throws -> Int64 {
        try queryLocked(conversation, in: application).first()?.messageCount ?? 0
    }

    /// Queries the participants that a conversation shows, in order: all, or the first of a wide one (ruling 38).
    func queryShownParticipants(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<UserID> {
        try query(
            """
            \(currentParticipants(of: conversation, in: application)) LIMIT (
                SELECT CASE WHEN is_wide = 1 THEN \(ConversationSnapshot.shownParticipants)
                    ELSE participant_count END
                FROM conversations WHERE application = \(application) AND id = \(conversation)
            )
            """,
            as: RowCacheKey(
                of: application.bytes + conversation.bytes, in: "participants", "conversations",
                aspect: Array("shown".utf8))
        ) { row in try row.user(0) }
    }

    /// The participants that several conversations show, each in order.
    func shownParticipants(
        of conversations: [(id: Conversation.ID, isWide: Bool)], in application: Application.ID
    ) throws -> [Conversation.ID: Participants] {
        let found = try rows(
            """
            SELECT conversation, user_id FROM participants
            WHERE application = \(application)
                AND conversation \(in: conversations.filter { !$0.isWide }.map(\.id))
                AND left_after IS NULL
            ORDER BY place
            """
        ) { row in (conversation: try row.id(0) as Conversation.ID, user: try row.user(1)) }
        var shown = Dictionary(grouping: found, by: \.conversation)
            .mapValues { members in Participants(members.map(\.user)) }
        for (id, isWide) in conversations where isWide {
            shown[id] = Participants(try queryShownParticipants(of: id, in: application).rows())
        }
        return shown
    }

    /// How many of the users of a filter are current participants of each of the conversations.
    func filteredParticipants(
        of conversations: [Conversation.ID], _ filter: ConversationFilter,
        in application: Application.ID
    ) throws -> [Conversation.ID: Int] {
        guard !filter.participants.isEmpty else { return [:] }
        let found = try rows(
            """
            SELECT conversation, COUNT(*) FROM participants
            WHERE application = \(application) AND conversation \(in: conversations)
                AND user_id \(in: Set(filter.participants)) AND left_after IS NULL
            GROUP BY conversation
            """
        ) { row in (try row.id(0) as Conversation.ID, try row.int(1)) }
        return Dictionary(found) { first, _ in first }
    }

    /// A current or former participant; `nil` for any other user.
    func participant(
        _ user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> Participant? {
        try queryParticipant(user, in: conversation, in: application).first()
    }

    /// Queries a current or former participant; no row for any other user.
    func queryParticipant(
        _ user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Participant> {
        try query(
            """
            SELECT \(raw: Participant.columns) FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user)
            """,
            as: Participant.cacheKey(
                of: ReceiptOwner(conversation: conversation, user: user), in: application)
        ) { row in try Participant(row) }
    }

    /// The current and former participants of conversations in order, without those that left before a position.
    ///
    /// They are sorted, because lists of them are stored in `object_history`, and applying the log again must give the
    /// same bytes, whatever the order of the rows.
    func participants(
        of conversations: [Conversation.ID], reachedFrom position: Position,
        in application: Application.ID
    ) throws -> [PositionedParticipant] {
        try queryParticipants(
            of: "\(in: conversations)", reachedFrom: position, in: application
        ).rows().sorted(by: PositionedParticipant.precedes)
    }

    /// Queries the same, in any order, without waiting for the rows.
    ///
    /// - Parameter conversations: The condition that an id is one of theirs, without its left side.
    func queryParticipants(
        of conversations: SQL, reachedFrom position: Position,
        in application: Application.ID
    ) throws -> DeferredRows<PositionedParticipant> {
        try query(
            """
            SELECT \(PositionedParticipant.columns) FROM participants
            WHERE application = \(application)
                AND conversation \(conversations)
                AND (left_after IS NULL OR left_after >= \(position))
            """
        ) { row in try PositionedParticipant(row) }
    }
}

extension Transaction {
    /// Current and former participants of a conversation by their ids, in order.
    func participants(
        _ users: [UserID], of conversation: Conversation.ID, in application: Application.ID
    ) throws -> [PositionedParticipant] {
        try rows(
            """
            SELECT \(PositionedParticipant.columns) FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id \(in: users)
            """
        ) { row in try PositionedParticipant(row) }.sorted(by: PositionedParticipant.precedes)
    }
}

extension Participant {
    /// The cache key of a participant.
    static func cacheKey(
        of owner: ReceiptOwner, in application: Application.ID
    ) -> RowCacheKey<Participant> {
        RowCacheKey(
            of: [.conversation(owner.conversation, in: application, "participants")],
            aspect: Array("part \(owner.user.text)".utf8))
    }

    /// The columns that ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        "user_id, past, joined_after, left_after, state, cleared_to"

    /// - Parameter first: The index of the first column.
    init(_ row: borrowing Row, from first: Int = 0) throws {
        func column(_ index: Int) -> Column { .index(first + index) }
        self.init(
            userID: try row.user(column(0)), past: try row.intervals(column(1)),
            joinedAfter: try row.position(column(2)),
            leftAfter: try row.optionalPosition(column(3)),
            state: try row.viewState(column(4)), clearedTo: try row.position(column(5)))
    }
}

extension Transaction {
    /// A conversation that a message is sent to, locked, with the participants that sending depends on.
    func lockedConversation(
        _ id: Conversation.ID, toSendFrom sender: Sender, in application: Application.ID
    ) throws -> Conversation {
        try withParticipants(
            try lockedConversationRow(id, in: application), toSendFrom: sender, in: application)
    }

    /// A conversation of a current or former participant, locked for a change on their behalf, without its
    /// participants.
    ///
    /// For the user, a deleted conversation or one they never took part in does not exist (platform-api
    /// §5.1.4). What they may change depends on the returned participant.
    func lockedConversationRow(
        _ id: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> (conversation: Conversation, participant: Participant) {
        do {
            let found = try lockedConversationRow(id, in: application)
            guard let participant = try participant(user, in: found.id, in: application) else {
                throw Rejection.notFound(.conversation)
            }
            return (found, participant)
        } catch Rejection.objectDeleted {
            throw Rejection.notFound(.conversation)
        }
    }

    /// The own id of a conversation in a user's view, and the participant.
    ///
    /// - Throws: `Rejection.notFound(.conversation)` when it is not in the view.
    func shownConversation(
        _ id: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> (id: Conversation.ID, participant: Participant) {
        let id = try winner(of: id, in: application) ?? id
        guard let participant = try participant(user, in: id, in: application) else {
            throw Rejection.notFound(.conversation)
        }
        try participant.requireReading()
        return (id, participant)
    }

    /// A live message that a user sees.
    ///
    /// - Throws: `Rejection.notFound(.message)`.
    func visibleMessage(
        _ id: Message.ID, for user: UserID, in application: Application.ID
    ) throws -> Message {
        let message = try liveMessage(id, in: nil, in: application)
        guard try isVisible(message, for: user, in: application) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// Whether a message is in a user's view.
    func isVisible(
        _ message: Message, for user: UserID, in application: Application.ID
    ) throws -> Bool {
        guard let participant = try participant(user, in: message.conversation, in: application),
            participant.sees(message.position)
        else { return false }
        let owner = ReceiptOwner(conversation: message.conversation, user: user)
        let number = message.position.number
        return try hiddenPositions(of: owner, within: IntervalSet(number...number), in: application)
            .isEmpty
    }

    /// The positions in a range whose messages are hidden from a user: deleted by the user, or hidden by a block.
    ///
    /// - Parameter range: Only its bounds count.
    func hiddenPositions(
        of owner: ReceiptOwner, within range: IntervalSet, in application: Application.ID
    ) throws -> IntervalSet {
        guard let low = range.intervals.first, let high = range.intervals.last else { return range }
        let found = try query(
            """
            SELECT position FROM hidden_messages
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND position BETWEEN \(low.lowerBound) AND \(high.upperBound)
                AND user_id = \(owner.user)
            """,
            as: Self.hiddenPositions(
                of: owner, within: low.lowerBound...high.upperBound, in: application)
        ) { row in try row.int64(0) }
        return IntervalSet(try found.rows().map { position in position...position })
    }

    /// The cache key of the positions in a range whose messages are hidden from a user.
    static func hiddenPositions(
        of owner: ReceiptOwner, within range: ClosedRange<Int64>, in application: Application.ID
    ) -> RowCacheKey<Int64> {
        RowCacheKey(
            of: [.conversation(owner.conversation, in: application, "hidden_messages")],
            aspect: Array("\(range.lowerBound) \(range.upperBound) \(owner.user.text)".utf8))
    }
}

/// A current participant's view before a message is sent.
struct RecipientView {
    let user: UserID
    let state: ViewState
    /// The index in the order of participants.
    let place: Int64
    /// Whether the participant blocks the sender or is blocked by the sender.
    let isBlocked: Bool
}

extension Transaction {
    /// Queries the current participants, as recipients of a message. Of a wide conversation, only those that its
    /// sending concerns one by one: the sender, and those that do not see the conversation or the message. They may
    /// be listed twice.
    ///
    /// - Parameter sender: The sender of the message; `nil` for a service.
    func queryRecipients(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) throws -> DeferredRows<RecipientView> {
        try query(
            Self.recipients(in: conversation, to: sender, in: application),
            as: RecipientView.cacheKey(in: conversation, to: sender, in: application)
        ) { row in try RecipientView(row) }
    }

    private static func recipients(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) -> SQL {
        let columns: SQL = "SELECT \(RecipientView.columns(to: "\(sender)")) FROM conversations c"
        let participant = RecipientView.participant
        let isInIt: SQL = "WHERE c.application = \(application) AND c.id = \(conversation)"
        // The tables are joined in this order: the blocks of a sender are read for a wide conversation only.
        return
            """
            \(columns) JOIN \(participant) \(isInIt) AND c.is_wide = 0 AND p.left_after IS NULL
            UNION ALL
            \(columns) JOIN \(participant) \(isInIt)
                AND c.is_wide = 1 AND p.is_wide = 1 AND p.state <> 'shown'
            UNION ALL
            \(columns) JOIN \(participant) \(isInIt)
                AND c.is_wide = 1 AND p.is_wide = 1 AND p.user_id = \(sender)
            UNION ALL
            \(columns) CROSS JOIN blocks b JOIN \(participant) AND p.user_id = b.owner \(isInIt)
                AND c.is_wide = 1 AND p.is_wide = 1
                AND b.application = c.application AND b.blocked = \(sender)
            UNION ALL
            \(columns) CROSS JOIN blocks b JOIN \(participant) AND p.user_id = b.blocked \(isInIt)
                AND c.is_wide = 1 AND p.is_wide = 1
                AND b.application = c.application AND b.owner = \(sender)
            """
    }

    /// Queries the same ahead, except for a wide conversation.
    func prefetchRecipients(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) {
        prefetch(
            NamedSender(conversation: conversation, user: sender),
            by: CommitGroup("recipients", in: application.bytes)
        ) { transaction, named in
            let senders: [SQLArray] = [
                .blobs(named.map(\.conversation.bytes)),
                .texts(named.map { named in named.user?.text ?? "" }),
            ]
            try transaction.prefetch(
                """
                SELECT \(RecipientView.columns(to: "column2")), c.id, column2
                FROM \(table: "named", of: senders)
                JOIN conversations c ON c.application = \(application) AND c.id = column1
                JOIN \(RecipientView.participant)
                WHERE c.is_wide = 0 AND p.left_after IS NULL
                """
            ) { row in
                let sender = try row.text(6)
                return (
                    RecipientView.cacheKey(
                        in: try row.id(5), to: UserID(stored: sender), in: application),
                    try RecipientView(row)
                )
            }
        }
    }
}

/// A sender and the conversation that a message is sent to; `nil` for a service.
private struct NamedSender: Hashable {
    let conversation: Conversation.ID
    let user: UserID?
}

extension RecipientView {
    /// The columns that ``init(_:)`` reads, in this order, of a participant `p`.
    fileprivate static func columns(to sender: SQL) -> SQL {
        """
        p.user_id, p.state, p.place, EXISTS (
            SELECT 1 FROM blocks b
            WHERE b.application = p.application AND b.owner = p.user_id
                AND b.blocked = \(sender) AND b.owner <> b.blocked
        ), EXISTS (
            SELECT 1 FROM blocks b
            WHERE b.application = p.application AND b.owner = \(sender)
                AND b.blocked = p.user_id AND b.owner <> b.blocked
        )
        """
    }

    /// The participants `p` of a conversation `c`, to be joined.
    fileprivate static let participant: SQL =
        "participants p ON p.application = c.application AND p.conversation = c.id"

    fileprivate init(_ row: borrowing Row) throws {
        self.init(
            user: try row.user(0), state: try row.viewState(1), place: try row.int64(2),
            isBlocked: try row.int64(3) + row.int64(4) > 0)
    }

    fileprivate static func cacheKey(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) -> RowCacheKey<RecipientView> {
        RowCacheKey(
            of: application.bytes + conversation.bytes, in: "participants", "conversations",
            "blocks", aspect: Array("recipientViews \(sender?.text ?? "")".utf8))
    }
}

extension DeferredRows<RecipientView> {
    /// Each recipient once, in the order of the conversation.
    func inOrder() throws -> [RecipientView] {
        let views = try rows()
        let isSorted = zip(views, views.dropFirst()).allSatisfy { $0.place < $1.place }
        guard !isSorted else { return views }
        return Dictionary(views.map { ($0.user, $0) }) { first, _ in first }.values
            .sorted { left, right in (left.place, left.user) < (right.place, right.user) }
    }
}
