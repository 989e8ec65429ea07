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
