import Messaging
import SQL

/// An object of a user's feed that an event has changed.
struct FeedChange {
    enum Object {
        case conversation(Conversation.ID)
        /// The window of a conversation that the user may see since the event.
        case window(Conversation.ID)
        case receipts(Conversation.ID, UserID)
        case identity(UserID)
        /// A user that is not followed any more.
        case unfollowed(UserID)
        case announcement(Announcement.ID)
        /// A message of a conversation; the flag tells whether it is deleted.
        case message(Message.ID, in: Conversation.ID, at: Position, isGone: Bool)
        /// A message whose view by the user has changed; the flag tells whether it is hidden.
        case viewedMessage(Message.ID, isGone: Bool)
    }

    let position: LogPosition
    let object: Object

    /// The place among the objects of the event.
    var order: FeedOrder {
        switch object {
        case .conversation(let id): FeedOrder(stage: .conversation, id: id.bytes)
        case .window(let id): FeedOrder(stage: .window, id: id.bytes)
        case .receipts(let id, let user):
            FeedOrder(stage: .receipts, id: id.bytes + Array(user.text.utf8))
        case .identity(let user), .unfollowed(let user):
            FeedOrder(stage: .identity, id: Array(user.text.utf8))
        case .announcement(let id): FeedOrder(stage: .announcement, id: id.bytes)
        case .message(let id, _, _, _), .viewedMessage(let id, _):
            FeedOrder(stage: .message, id: id.bytes)
        }
    }
}

// Finding the changes.
extension FeedReader {
    /// The number of the newest positions of a conversation that are searched one by one for the first new message. More
    /// new messages are found by binary search.
    private static let newestPositions: Int64 = 1024

    /// What has changed after a position up to another, in the order of events and then of objects.
    func changes(
        after position: LogPosition, through bound: LogPosition
    ) throws -> [FeedChange] {
        if let known {
            return known.filter { change in change.position > position && change.position <= bound }
        }
        // The conversations of the user are read first, and then what has changed in each: SQLite takes tables in the order
        // of a CROSS JOIN.
        let streamed = try transaction.rows(
            """
            SELECT t.position, t.kind, t.stream, t.id, t.gone_at, t.place FROM touched t
            WHERE t.application = \(application) AND t.stream = \(Array(user.text.utf8))
                AND t.position > \(position) AND t.position <= \(bound)
                AND t.kind >= \(TouchedKind.view.rawValue)
            UNION ALL
            SELECT t.position, t.kind, t.stream, t.id, t.gone_at, t.place
            FROM participants p CROSS JOIN touched t
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND t.application = p.application AND t.stream = p.conversation
                AND t.position > \(position) AND t.position <= \(bound)
                AND t.kind < \(TouchedKind.alias.rawValue)
                AND (p.left_after IS NULL OR t.place <= p.left_after)
            UNION ALL
            SELECT c.changed, \(TouchedKind.conversation.rawValue), c.id, c.id, 0, 0
            FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND p.left_after IS NULL AND c.changed > \(position) AND c.changed <= \(bound)
            """
        ) { row in try TouchedRow(row) }
        .flatMap { row in try row.changes(for: user) }
        let messages = try messages(after: position, through: bound)
        let identities = try transaction.rows(
            """
            SELECT user_id, event FROM (
                SELECT i.user_id, CASE
                    WHEN f.event < i.identity_event THEN i.identity_event ELSE f.event
                END AS event
                FROM following f
                JOIN identities i ON i.application = f.application AND i.user_id = f.followed
                WHERE f.application = \(application) AND f.follower = \(user)
                    AND f.followed <> f.follower
                UNION ALL
                SELECT user_id, identity_event FROM identities
                WHERE application = \(application) AND user_id = \(user)
            ) u
            WHERE event > \(position) AND event <= \(bound)
            """
        ) { row in
            FeedChange(
                position: LogPosition(try row.int64(1)), object: .identity(try row.user(0)))
        }
        let announcements = try transaction.rows(
            """
            SELECT announcement, event FROM announcement_recipients
            WHERE application = \(application) AND user_id = \(user)
                AND event > \(position) AND event <= \(bound)
            """
        ) { row in
            FeedChange(
                position: LogPosition(try row.int64(1)), object: .announcement(try row.id(0)))
        }
        return (streamed + messages + identities + announcements).inOrder()
    }

    /// A conversation in which messages were sent or changed.
    private struct ActiveConversation {
        let id: Conversation.ID
        /// The last position that the user may see.
        let end: Position
        /// The new messages have later positions.
        let start: Position
        /// Whether there may be new messages up to ``start``, too.
        let hasOlder: Bool
    }

    /// The conversations of the user in which messages were sent or changed after a position.
    ///
    /// Each is looked up in its indexes by a subquery with a limit. PostgreSQL plans without the values; a join it may turn
    /// around, and read the messages of all conversations.
    private func activeConversations(
        after position: LogPosition
    ) throws -> [ActiveConversation] {
        try transaction.rows(
            """
            SELECT a.id, a.last_position, a.left_after, a.is_new, a.newest_known FROM (
                SELECT c.id, c.last_position, p.left_after,
                    CASE WHEN c.changed > \(position) THEN 1 ELSE 0 END AS is_new,
                    CASE WHEN c.changed > \(position) THEN (
                        SELECT o.position FROM messages o
                        WHERE o.application = p.application AND o.conversation = p.conversation
                            AND o.position > c.last_position - \(Self.newestPositions)
                            AND o.event <= \(position)
                        ORDER BY o.position DESC LIMIT 1
                    ) END AS newest_known,
                    (
                        SELECT m.changed FROM messages m
                        WHERE m.application = p.application AND m.conversation = p.conversation
                            AND m.changed > \(position)
                        ORDER BY m.changed LIMIT 1
                    ) AS next_change
                FROM participants p CROSS JOIN conversations c
                WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                    AND c.application = p.application AND c.id = p.conversation
            ) a
            WHERE a.is_new = 1 OR a.next_change IS NOT NULL
            """
        ) { row in
            let last = try row.position(1)
            let end = try row.optionalPosition(2).map { left in min(left, last) } ?? last
            guard try row.int64(3) > 0 else {
                return ActiveConversation(
                    id: try row.id(0), end: end, start: end, hasOlder: false)
            }
            let known = try row.optionalPosition(4)
            let start = known ?? Position(max(0, last.number - Self.newestPositions))
            return ActiveConversation(
                id: try row.id(0), end: end, start: start,
                hasOlder: known == nil && start > Position(0))
        }
    }

    /// The messages that were sent or changed.
    private func messages(
        after position: LogPosition, through bound: LogPosition
    ) throws -> [FeedChange] {
        let active = try activeConversations(after: position)
        let newest = try active.powerOfTwoChunks(upTo: 16).flatMap { chunk in
            let queries = chunk.map { conversation -> SQL in
                """
                SELECT changed, conversation, id, position FROM messages
                WHERE application = \(application) AND conversation = \(conversation.id)
                    AND changed > \(position) AND changed <= \(bound)
                UNION ALL
                SELECT event, conversation, id, position FROM messages
                WHERE application = \(application) AND conversation = \(conversation.id)
                    AND position > \(conversation.start) AND position <= \(conversation.end)
                    AND changed IS NULL AND event > \(position) AND event <= \(bound)
                """
            }
            let ends = Dictionary(
                chunk.map { conversation in (conversation.id, conversation.end) }
            ) { first, _ in first }
            return try transaction.rows(
                queries.dropFirst().reduce(queries[0]) { all, next in "\(all) UNION ALL \(next)" }
            ) { row -> FeedChange? in
                let (conversation, place): (Conversation.ID, _) = (
                    try row.id(1), try row.position(3)
                )
                guard let end = ends[conversation], place <= end else { return nil }
                return FeedChange(
                    position: LogPosition(try row.int64(0)),
                    object: .message(try row.id(2), in: conversation, at: place, isGone: false))
            }.compactMap(\.self)
        }
        let older = try active.filter(\.hasOlder).flatMap { conversation in
            try olderMessages(of: conversation, after: position, through: bound)
        }
        return newest + older
    }

    /// New messages before the newest positions of a conversation, found by binary search.
    private func olderMessages(
        of conversation: ActiveConversation, after position: LogPosition,
        through bound: LogPosition
    ) throws -> [FeedChange] {
        let id = conversation.id
        let last = min(conversation.start, conversation.end)
        let start = try lastMessage(through: position, of: id, in: Position(0), last)
        let end = try lastMessage(through: bound, of: id, in: start, last)
        return try transaction.rows(
            """
            SELECT event, id, position FROM messages
            WHERE application = \(application) AND conversation = \(id)
                AND position > \(start) AND position <= \(end) AND changed IS NULL
            """
        ) { row in
            FeedChange(
                position: LogPosition(try row.int64(0)),
                object: .message(
                    try row.id(1), in: id, at: try row.position(2), isGone: false))
        }
    }

    /// A position such that the messages without later changes up to there were recorded by events up to one, and those
    /// after it by later events.
    ///
    /// - Parameters:
    ///   - low: The messages up to this position were recorded by events up to that one.
    ///   - high: The last position to consider.
    private func lastMessage(
        through event: LogPosition, of conversation: Conversation.ID, in low: Position,
        _ high: Position
    ) throws -> Position {
        var (low, high) = (low.number, high.number)
        while low < high {
            let middle = low + (high - low + 1) / 2
            let found = try transaction.first(
                """
                SELECT position, event FROM messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND position >= \(middle) AND position <= \(high)
                    AND (changed IS NULL OR event <= \(event))
                ORDER BY position LIMIT 1
                """
            ) { row in (position: try row.int64(0), event: LogPosition(try row.int64(1))) }
            if let found, found.event <= event {
                low = found.position
            } else {
                high = middle - 1
            }
        }
        return Position(low)
    }
}

extension [FeedChange] {
    /// The changes in the order of events and then of objects.
    func inOrder() -> [FeedChange] {
        let sorted = map { change in (change, change.order) }.sorted { left, right in
            (left.0.position, left.1) < (right.0.position, right.1)
        }
        // One event may touch a conversation in several ways.
        var changes: [FeedChange] = []
        var last: (LogPosition, FeedOrder)?
        for (change, order) in sorted {
            if let last, last == (change.position, order) { continue }
            changes.append(change)
            last = (change.position, order)
        }
        return changes
    }
}

/// A row of `touched`, or of a query that has its columns `position`, `kind`, `stream`, `id`, `gone_at` and `place`.
struct TouchedRow {
    let position: LogPosition
    let stream: [UInt8]
    private let kind: TouchedKind
    private let id: [UInt8]
    private let isGone: Bool
    private let place: Position

    init(_ row: borrowing Row) throws {
        guard let kind = TouchedKind(rawValue: try row.int64(1)) else {
            throw StoreFault.unreadable("touched.kind")
        }
        position = LogPosition(try row.int64(0))
        self.kind = kind
        stream = try row.blob(2)
        id = try row.blob(3)
        isGone = try row.int64(4) > 0
        place = try row.position(5)
    }

    /// Whether the stream is that of a conversation, and not of a user.
    var isOfConversation: Bool { kind.rawValue <= TouchedKind.alias.rawValue }

    /// Whether a user that sees the conversation of the stream learns of it: a former participant does not of what came
    /// later.
    func concerns(_ participant: Participant) -> Bool {
        guard let last = participant.leftAfter else { return true }
        return kind != .conversation && place <= last
    }

    /// The changes that the row means for a user.
    func changes(for user: UserID) throws -> [FeedChange] {
        let objects: [FeedChange.Object] =
            switch kind {
            case .conversation, .counts, .view: [.conversation(try named())]
            case .window: [.conversation(try named()), .window(try named())]
            case .viewWindow:
                isGone
                    ? [.conversation(try named())]
                    : [.conversation(try named()), .window(try named())]
            case .message:
                [.message(try named(), in: try conversation(), at: place, isGone: isGone)]
            case .receipts: try receipts(seenBy: user)
            case .viewedMessage: [.viewedMessage(try named(), isGone: isGone)]
            case .unfollowed: [.unfollowed(try namedUser())]
            case .alias: []
            }
        return objects.map { object in FeedChange(position: position, object: object) }
    }

    /// The user's own receipts change the unread count of the conversation too.
    private func receipts(seenBy user: UserID) throws -> [FeedChange.Object] {
        let (owner, id) = (try namedUser(), try conversation())
        let change = FeedChange.Object.receipts(id, owner)
        return owner == user ? [.conversation(id), change] : [change]
    }

    private func named<Subject>() throws -> Identifier<Subject> { try identifier(id, "touched.id") }

    private func conversation() throws -> Conversation.ID {
        try identifier(stream, "touched.stream")
    }

    private func identifier<Subject>(
        _ bytes: [UInt8], _ column: String
    ) throws -> Identifier<Subject> {
        guard let id = Identifier<Subject>(bytes: bytes) else {
            throw StoreFault.unreadable(column)
        }
        return id
    }

    private func namedUser() throws -> UserID {
        guard let user = UserID(id) else { throw StoreFault.unreadable("touched.id") }
        return user
    }
}
