public import Messaging
import SQL

/// The result of marking a conversation as read.
public struct MarkAllReadResult: Equatable, Sendable {
    /// The own id of the conversation, also when an alias was given.
    public let conversation: Conversation.ID
    /// The position up to which the user has read now; `nil` when no message up to the requested one is visible.
    public let lastRead: Position?
}

extension MessagingStore {
    /// Records that a participant has received or read messages.
    ///
    /// Known receipts, the participant's own messages and messages they cannot see change nothing (R72, R77).
    ///
    /// - Parameter positions: The positions of the messages; those that the participant does not see are left
    ///   out.
    /// - Returns: The recorded positions; empty unless a message of another sender is among them.
    /// - Throws: `Rejection.notFound(.conversation)` for a user that never took part, `objectDeleted`.
    @discardableResult
    public func recordReceipts(
        _ kind: Receipts.Kind, of positions: IntervalSet, by user: UserID,
        in conversation: Conversation.ID, in application: Application.ID
    ) async throws -> IntervalSet {
        try await change(in: application) { context in
            let conversation = try context.transaction.lockedConversationRow(
                conversation, in: application)
            return try context.recordReceipts(kind, of: positions, by: user, in: conversation)
        }
    }

    /// Records that a user has received or read messages of a conversation in the user's view (Y3). Known receipts, the
    /// user's own messages and positions of messages that the user does not see change nothing.
    ///
    /// - Parameter cursor: How far the caller has received the feed; `nil` if it does not say.
    /// - Throws: `Rejection.notFound` of an unknown user, or of a conversation that is not in the user's view; `merged` for
    ///   an alias, and for a conversation whose messages a merge has moved after the cursor, because the positions are
    ///   those of before the merge.
    public func recordReceipts(
        _ kind: Receipts.Kind, of positions: IntervalSet, by user: UserID,
        seenIn id: Conversation.ID, knownAt cursor: FeedCursor? = nil,
        in application: Application.ID
    ) async throws {
        let isOfThisEpoch = if let cursor { try await epoch() == cursor.epoch } else { true }
        try await change(in: application) { context in
            let transaction = context.transaction
            try transaction.requireUser(user, in: application)
            let (conversation, participant) = try transaction.lockedConversationRow(
                id, for: user, in: application)
            try participant.requireReading()
            var hasMoved = conversation.id != id || !isOfThisEpoch
            if let cursor, !hasMoved {
                hasMoved = try transaction.hasMerged(
                    id, after: cursor.position, in: application)
            }
            guard !hasMoved else { throw Rejection.merged(into: conversation.id) }
            try context.recordReceipts(kind, of: positions, by: user, in: conversation)
        }
    }

    /// Records that a user has received or read one message; a known receipt or the user's own message changes
    /// nothing (R72, R77).
    ///
    /// - Throws: `Rejection.notFound` of an unknown user, or of a message that is deleted or not visible to
    ///   the user.
    public func recordReceipt(
        _ kind: Receipts.Kind, of message: Message.ID, by user: UserID,
        in application: Application.ID
    ) async throws {
        try await change(
            in: application,
            prefetching: { transaction in
                try transaction.prefetchReceipt(of: message, by: user, in: application)
            }
        ) { context in
            let transaction = context.transaction
            try transaction.requireUser(user, in: application)
            let message = try transaction.visibleMessage(message, for: user, in: application)
            let conversation = try transaction.lockedConversationRow(
                message.conversation, in: application)
            guard message.sender.userID != user else { return }
            let number = message.position.number
            try context.recordReceipts(
                kind, of: IntervalSet(number...number), by: user, in: conversation)
        }
    }

    /// Records that a user has read all visible messages up to a position (R75).
    ///
    /// - Parameter position: Reduced to the last visible message at or before it (ruling 16); `nil` for all messages.
    /// - Throws: `Rejection.notFound` of an unknown user, or of a conversation that is not in the user's
    ///   view.
    public func markAllRead(
        upTo position: Position?, by user: UserID, in conversation: Conversation.ID,
        in application: Application.ID
    ) async throws -> MarkAllReadResult {
        try await change(in: application) { context in
            let transaction = context.transaction
            try transaction.requireUser(user, in: application)
            let (conversation, participant) = try transaction.lockedConversationRow(
                conversation, for: user, in: application)
            try participant.requireReading()
            guard
                let last = try transaction.lastVisiblePosition(
                    upTo: position, for: user, in: conversation.id, in: application)
            else { return MarkAllReadResult(conversation: conversation.id, lastRead: nil) }
            try context.recordReceipts(
                .read, of: IntervalSet(1...last.number), by: user, in: conversation)
            return MarkAllReadResult(conversation: conversation.id, lastRead: last)
        }
    }
}

extension MutationContext {
    /// Records the new positions of a receipt, if there are any.
    ///
    /// - Returns: These positions.
    @discardableResult
    fileprivate func recordReceipts(
        _ kind: Receipts.Kind, of positions: IntervalSet, by user: UserID,
        in conversation: Conversation
    ) throws -> IntervalSet {
        let new = try newPositions(kind, positions, by: user, in: conversation)
        if !new.isEmpty {
            try record(
                .receiptsRecorded(
                    ReceiptsRecorded(
                        conversation: conversation.id, user: user, kind: kind, positions: new,
                        at: now)))
        }
        return new
    }

    /// The positions of a receipt that are new and visible to the user, as few intervals: the user's own messages and
    /// deleted ones are not taken out, because they have no effect there. Empty when there are no other messages.
    private func newPositions(
        _ kind: Receipts.Kind, _ positions: IntervalSet, by user: UserID,
        in conversation: Conversation
    ) throws -> IntervalSet {
        guard
            let participant = try transaction.participant(
                user, in: conversation.id, in: application)
        else { throw Rejection.notFound(.conversation) }
        let owner = ReceiptOwner(conversation: conversation.id, user: user)
        let known = try transaction.receipts(of: owner, in: application)
        let stay = participant.stay(upTo: conversation.lastPosition)
        var requested = positions.intersection(participant.range(upTo: conversation.lastPosition))
            .intersection(stay.union(participant.past))
            .subtracting(kind == .read ? known.read : known.delivered)
        requested = requested.subtracting(
            try transaction.hiddenPositions(of: owner, within: requested, in: application))
        // If nothing is unread, only messages of an earlier stay can be newly read.
        var open = requested
        if kind == .read {
            let counts = try transaction.viewCounts(of: owner, in: application)
            if counts?.unread(in: conversation) ?? 0 == 0 { open = requested.subtracting(stay) }
        }
        guard try transaction.isAny(byOthersThan: owner, in: open, in: application) else {
            return IntervalSet()
        }
        return requested
    }
}

/// The user and conversation that receipts belong to.
struct ReceiptOwner: Hashable {
    let conversation: Conversation.ID
    let user: UserID
}

extension Transaction {
    /// The receipts of all participants of conversations.
    func receipts(
        in conversations: [Conversation.ID], in application: Application.ID
    ) throws -> [ReceiptOwner: Receipts] {
        Dictionary(
            try queryReceipts(in: "\(in: conversations)", in: application).rows()
        ) { first, _ in first }
    }

    /// Sends the same query without waiting for its rows.
    ///
    /// - Parameter conversations: The condition that an id is one of theirs, without its left side.
    func queryReceipts(
        in conversations: SQL, in application: Application.ID
    ) throws -> DeferredRows<(ReceiptOwner, Receipts)> {
        try query(
            """
            SELECT conversation, user_id, delivered, read FROM receipts
            WHERE application = \(application)
                AND conversation \(conversations)
            """
        ) { row in
            (
                ReceiptOwner(conversation: try row.id(0), user: try row.user(1)),
                try Receipts(row, from: 2)
            )
        }
    }

    /// The receipts of one participant in a conversation.
    func receipts(of owner: ReceiptOwner, in application: Application.ID) throws -> Receipts {
        try query(
            """
            SELECT delivered, read FROM receipts
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND user_id = \(owner.user)
            """,
            as: Receipts.cacheKey(of: owner, in: application)
        ) { row in try Receipts(row) }.first() ?? Receipts()
    }

    /// The position of the last message that a participant sees, at or before a position; `nil` when there is none.
    func lastVisiblePosition(
        upTo position: Position?, for user: UserID, in conversation: Conversation.ID,
        in application: Application.ID
    ) throws -> Position? {
        try first(
            """
            SELECT m.position FROM participants p
            JOIN messages m ON m.application = p.application AND m.conversation = p.conversation
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user)
                AND m.position > p.cleared_to
                AND m.position <= COALESCE(p.left_after, m.position)
                AND m.position <= \(position ?? .last)
                AND NOT EXISTS (
                    SELECT 1 FROM hidden_messages h
                    WHERE h.application = m.application AND h.conversation = m.conversation
                        AND h.position = m.position AND h.user_id = p.user_id
                )
            ORDER BY m.position DESC LIMIT 1
            """
        ) { row in try row.position(0) }
    }

    /// The number of messages of other senders than a user at the positions.
    ///
    /// Without `ORDER BY`, PostgreSQL may expect an application to have few messages, and read all of them.
    func count(
        othersThan owner: ReceiptOwner, in positions: IntervalSet, in application: Application.ID
    ) throws -> Int64 {
        try positions.intervals.reduce(0) { count, interval in
            if interval.lowerBound == interval.upperBound,
                let isAny = try isAnyNearby(byOthersThan: owner, in: interval, in: application)
            {
                return count + (isAny ? 1 : 0)
            }
            let more = try first(
                """
                SELECT COUNT(*) FROM (
                    SELECT 1 FROM messages
                    WHERE application = \(application) AND conversation = \(owner.conversation)
                        AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                        AND (sender_user IS NULL OR sender_user <> \(owner.user))
                    ORDER BY position
                ) AS others
                """
            ) { row in try row.int64(0) }
            return count + (more ?? 0)
        }
    }

    /// Whether a message at one of the positions has another sender than a user.
    func isAny(
        byOthersThan owner: ReceiptOwner, in positions: IntervalSet,
        in application: Application.ID
    ) throws -> Bool {
        for interval in positions.intervals {
            if let isAny = try isAnyNearby(byOthersThan: owner, in: interval, in: application) {
                if isAny { return true }
                continue
            }
            let found = try first(
                """
                SELECT 1 FROM messages
                WHERE application = \(application) AND conversation = \(owner.conversation)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (sender_user IS NULL OR sender_user <> \(owner.user))
                ORDER BY position LIMIT 1
                """
            ) { _ in true }
            if found != nil { return true }
        }
        return false
    }

    /// Whether a message in an interval has another sender than a user, from what ``prefetchReceipt(of:by:in:)`` has
    /// read; `nil` when it has not read enough.
    private func isAnyNearby(
        byOthersThan owner: ReceiptOwner, in interval: ClosedRange<Int64>,
        in application: Application.ID
    ) throws -> Bool? {
        func nearby(_ position: Int64) throws -> NearbyMessages? {
            try cached(NearbyMessages.cacheKey(at: position, of: owner, in: application))
        }
        let (low, high) = (interval.lowerBound, interval.upperBound)
        if low == high, let nearby = try nearby(low) { return nearby.isAt }
        guard high - low < NearbyMessages.distance else { return nil }
        if let last = try nearby(high + 1) { return last.before.map { $0 >= low } ?? false }
        if let first = try nearby(low - 1) { return first.after.map { $0 <= high } ?? false }
        return nil
    }

    /// The counts of a participant's view; `nil` for any other user.
    func viewCounts(
        of owner: ReceiptOwner, in application: Application.ID
    ) throws -> ViewCounts? {
        try query(
            """
            SELECT unread_count, unshown_count, is_wide FROM participants
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND user_id = \(owner.user)
            """,
            as: ViewCounts.cacheKey(of: owner, in: application)
        ) { row in try ViewCounts(row) }.first()
    }
}

/// Counts of a participant's view of a conversation.
struct ViewCounts {
    /// The number of unread messages; in a wide conversation, less the number of its messages.
    private var unread: Int64
    /// Whether the user is a current participant of a wide conversation.
    private let isWide: Bool
    /// The number of messages of the conversation that are not in the view.
    let unshown: Int64

    /// - Parameter first: The index of the first column.
    init(_ row: borrowing Row, from first: Int = 0) throws {
        unread = try row.int64(.index(first))
        unshown = try row.int64(.index(first + 1))
        isWide = try row.bool(.index(first + 2))
    }

    /// The number of unread messages.
    func unread(in conversation: Conversation) -> Int64 {
        unread + (isWide ? conversation.messageCount : 0)
    }

    /// Sets the number of unread messages.
    ///
    /// - Returns: The value of the column.
    mutating func set(unread count: Int64, in conversation: Conversation) -> Int64 {
        unread = count - (isWide ? conversation.messageCount : 0)
        return unread
    }

    static func cacheKey(
        of owner: ReceiptOwner, in application: Application.ID
    ) -> RowCacheKey<ViewCounts> {
        RowCacheKey(
            of: [
                .conversation(owner.conversation, in: application, "participants"),
                .viewCounts(of: owner.conversation, in: application),
            ], aspect: Array("counts \(owner.user.text)".utf8))
    }
}

extension Receipts {
    /// Reads the columns `delivered` and `read`.
    ///
    /// - Parameter first: The index of the first of them.
    init(_ row: borrowing Row, from first: Int = 0) throws {
        self.init(
            delivered: try row.intervals(.index(first)), read: try row.intervals(.index(first + 1)))
    }

    /// The cache key of a participant's receipts.
    static func cacheKey(
        of owner: ReceiptOwner, in application: Application.ID
    ) -> RowCacheKey<Receipts> {
        RowCacheKey(
            of: [.conversation(owner.conversation, in: application, "receipts")],
            aspect: Array(owner.user.text.utf8))
    }
}
