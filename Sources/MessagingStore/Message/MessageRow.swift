import Messaging
import SQL

extension Transaction {
    /// A message; `nil` if it does not exist or is deleted.
    func message(_ id: Message.ID, in application: Application.ID) throws -> Message? {
        Message(joining: try queryMessage(id, in: application).rows())
    }

    /// Queries a message: a row for each of its parts, in order, which is the message with this part only.
    func queryMessage(
        _ id: Message.ID, in application: Application.ID
    ) throws -> DeferredRows<Message> {
        try query(
            messages("= \(id)", in: application), as: Message.cacheKey(id, in: application)
        ) { row in try Message(withPart: row) }
    }

    /// Queries messages ahead, for ``message(_:in:)``.
    func prefetchMessages(_ ids: [Message.ID], in application: Application.ID) throws {
        try prefetch(messages("\(in: ids)", in: application)) { row in
            let message = try Message(withPart: row)
            return (Message.cacheKey(message.id, in: application), message)
        }
    }

    /// Messages with a row for each of their parts, those of a message in order.
    ///
    /// - Parameter ids: The condition that an id is one of theirs, without its left side.
    private func messages(_ ids: SQL, in application: Application.ID) -> SQL {
        """
        SELECT m.id, m.conversation, m.position, m.sender_user, m.sender_name, m.sent_at,
            m.updated_at, m.version, m.weight, p.id, p.part_index, p.mime_type, p.body,
            p.content, p.size, p.updated_at
        FROM messages m
        LEFT JOIN parts p ON p.application = m.application AND p.message = m.id
        WHERE m.application = \(application) AND m.id \(ids)
        ORDER BY COALESCE(p.place, p.part_index), p.part_index
        """
    }

    /// Messages by their ids, in two statements.
    func messages(
        _ ids: [Message.ID], in application: Application.ID
    ) throws -> [Message.ID: Message] {
        guard !ids.isEmpty else { return [:] }
        let heads = try rows(
            """
            SELECT \(raw: MessageRow.columns) FROM messages
            WHERE application = \(application) AND id \(in: ids)
            """
        ) { row in try MessageRow(row) }
        let messages = try complete(heads, in: application)
        return Dictionary(messages.map { message in (message.id, message) }) { first, _ in first }
    }

    /// The messages of a view before a position, newest first, as many as fit into one response, in two
    /// statements.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of messages to look at.
    ///   - wanted: The ids of the messages to return; `nil` for all.
    func messages(
        of view: MessageView, before position: Position?, limit: Int
    ) throws -> BoundedPage<Message> {
        let heads = try rows(view.rows(of: MessageRow.columns, before: position, limit: limit)) {
            row in
            try MessageRow(row)
        }
        let page = BoundedPage(heads, weight: \.weight)
        return BoundedPage(
            items: try complete(page.items, in: view.application), isCut: page.isCut)
    }

    /// The messages at positions of a conversation, in the order of the positions, in one statement.
    ///
    /// - Parameter positions: Of existing messages that together fit into one response.
    func messages(
        at positions: [Position], in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [Message] {
        guard !positions.isEmpty else { return [] }
        var indices: [Position: Int] = [:]
        for (index, position) in positions.enumerated() { indices[position] = index }
        var heads = [MessageRow?](repeating: nil, count: positions.count)
        var parts = [[PositionedPart]](repeating: [], count: positions.count)
        _ = try rows(
            """
            SELECT m.id, m.conversation, m.position, m.sender_user, m.sender_name, m.sent_at,
                m.updated_at, m.version, m.weight, p.id, p.part_index, p.mime_type, p.body,
                p.content, p.size, p.updated_at, p.message, p.place
            FROM messages m
            LEFT JOIN parts p ON p.application = m.application AND p.message = m.id
            WHERE m.application = \(application) AND m.conversation = \(conversation)
                AND m.position \(Self.among(positions))
            ORDER BY m.position
            """
        ) { row in
            // A range may have others.
            guard let index = indices[try row.position(2)] else { return }
            if heads[index] == nil { heads[index] = try MessageRow(row) }
            if try !row.isNull(9) { parts[index].append(try PositionedPart(row, from: 9)) }
        }
        var messages: [Message] = []
        messages.reserveCapacity(positions.count)
        for (head, parts) in zip(heads, parts) {
            guard let head else { throw StoreFault.unreadable("a message at a position") }
            messages.append(head.message(with: PositionedPart.inOrder(parts)))
        }
        return messages
    }

    /// The condition that a position is one of these, without its left side.
    ///
    /// With the range and an order, PostgreSQL reads the index by position even if it expects an application to have few
    /// messages; otherwise it may read all of them.
    private static func among(_ positions: [Position]) -> SQL {
        let numbers = positions.map(\.number)
        guard let first = numbers.min(), let last = numbers.max() else {
            return "\(in: .integers([]))"
        }
        // A range is read without a search for each position.
        guard last - first >= Int64(numbers.count + numbers.count / 8) else {
            return "BETWEEN \(first) AND \(last)"
        }
        return "BETWEEN \(first) AND \(last) AND m.position \(in: .integers(numbers))"
    }

    /// Queries the number of messages in a user's view of a conversation (ruling 17).
    func queryMessageCount(
        of user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Int64> {
        try query(
            """
            SELECT p.total_count + p.is_wide * c.message_count
            FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user)
            """
        ) { row in try row.int64(0) }
    }

    /// The user that sent a message; `nil` also for a service, which has only a name.
    func sender(of message: Message.ID, in application: Application.ID) throws -> UserID? {
        try first(
            "SELECT sender_user FROM messages WHERE application = \(application) AND id = \(message)"
        ) { row in try row.optionalUser(0) } ?? nil
    }

    /// The messages after a position as an export has them, but without contents: as many as fit into one response, in
    /// the order of their positions, in two statements.
    func archivedMessages(
        in conversation: Conversation.ID, after position: Position, limit: Int,
        of application: Application.ID
    ) throws -> [ArchivedMessage] {
        let heads = try boundedPage(
            """
            SELECT \(raw: MessageRow.columns), parts_made, blocks_changed_at FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position > \(position)
            ORDER BY position LIMIT \(limit)
            """, weight: { row in try row.int64(8) }
        ) { row in
            (
                row: try MessageRow(row), partsMade: try row.optionalInt64(9),
                blocksChangedAt: try row.timestamp(10)
            )
        }.items
        let parts = try parts(of: heads.map(\.row.id), in: application)
        return heads.map { head in
            let parts = (parts[head.row.id] ?? []).sorted { left, right in
                left.part.index < right.part.index
            }
            return ArchivedMessage(
                head.row.message(with: parts.map(\.part)), partsMade: head.partsMade,
                places: parts.map(\.place), blocksChangedAt: head.blocksChangedAt)
        }
    }

    /// Reads the parts of messages in one statement, and returns the complete messages.
    private func complete(
        _ heads: [MessageRow], in application: Application.ID
    ) throws -> [Message] {
        let parts = try parts(of: heads.map(\.id), in: application)
        return heads.map { head in
            head.message(with: PositionedPart.inOrder(parts[head.id] ?? []))
        }
    }

    /// The parts of messages in any order.
    private func parts(
        of messages: [Message.ID], in application: Application.ID
    ) throws -> [Message.ID: [PositionedPart]] {
        guard !messages.isEmpty else { return [:] }
        let parts = try rows(
            """
            SELECT id, part_index, mime_type, body, content, size, updated_at, message, place
            FROM parts
            WHERE application = \(application)
                AND message \(in: messages)
            """
        ) { row in try PositionedPart(row) }
        return Dictionary(grouping: parts, by: \.message)
    }
}

/// The messages of a conversation that the system or a user sees, as a query.
struct MessageView {
    let conversation: Conversation.ID
    /// The user's participation; `nil` for the system.
    let participant: Participant?
    let application: Application.ID

    /// The rows of `messages` before a position, newest first.
    ///
    /// - Parameter position: `nil` for the end of the view.
    func rows(of columns: StaticString, before position: Position?, limit: Int) -> SQL {
        """
        SELECT \(raw: columns) FROM messages m
        WHERE application = \(application) AND conversation = \(conversation)
            AND position < \(position ?? participant?.leftAfter?.next ?? .last)
            \(participant.map(visible) ?? "")
        ORDER BY position DESC LIMIT \(limit)
        """
    }

    private func visible(to participant: Participant) -> SQL {
        """
        AND position > \(participant.clearedTo)
            AND NOT EXISTS (
                SELECT 1 FROM hidden_messages h
                WHERE h.application = m.application AND h.conversation = m.conversation
                    AND h.position = m.position AND h.user_id = \(participant.userID)
            )
        """
    }
}

/// A row of `messages`: a message without its parts.
private struct MessageRow {
    let id: Message.ID
    let conversation: Conversation.ID
    let position: Position
    let sender: Sender
    let sentAt: Timestamp
    let updatedAt: Timestamp?
    let version: Int64
    /// The approximate size in a response, in bytes, which is known before the parts are read.
    let weight: Int64

    /// The columns that ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, conversation, position, sender_user, sender_name, sent_at, updated_at, version, weight
        """

    init(_ row: borrowing Row) throws {
        id = try row.id(0)
        conversation = try row.id(1)
        position = try row.position(2)
        sender =
            if let user = try row.optionalUser(3) {
                .user(user)
            } else {
                .named(try row.text(4))
            }
        sentAt = try row.timestamp(5)
        updatedAt = try row.optionalTimestamp(6)
        version = try row.int64(7)
        weight = try row.int64(8)
    }

    func message(with parts: [MessagePart]) -> Message {
        Message(
            id: id, conversation: conversation, position: position, sender: sender, sentAt: sentAt,
            parts: parts, updatedAt: updatedAt, version: version)
    }
}

/// A part with its message, and its index in the order that the caller chose.
private struct PositionedPart {
    let message: Message.ID
    let part: MessagePart
    /// `nil` for a part that was not ordered.
    let place: Int64?

    /// - Parameter first: The index of the first column.
    init(_ row: borrowing Row, from first: Int = 0) throws {
        part = try MessagePart(row, from: first)
        message = try row.id(.index(first + 7))
        place = try row.optionalInt64(.index(first + 8))
    }

    /// The parts of one message in order.
    ///
    /// They are sorted here and not by the statement: to sort the parts of many messages, the database may choose a plan
    /// that reads a whole index in that order instead of looking up the messages.
    static func inOrder(_ parts: [PositionedPart]) -> [MessagePart] {
        guard parts.count > 1 else { return parts.map(\.part) }
        return parts.sorted { left, right in
            (left.rank, left.part.index) < (right.rank, right.part.index)
        }.map(\.part)
    }

    /// What parts are sorted by. A part that was added after the others were ordered comes last, because its creation
    /// number is greater than every index.
    private var rank: Int64 { place ?? Int64(part.index) }
}

extension Message {
    /// The cache key of a message with its parts.
    static func cacheKey(_ id: ID, in application: Application.ID) -> RowCacheKey<Message> {
        RowCacheKey(of: [.message(id, in: application), .message(id, in: application, "parts")])
    }

    /// A row of a message and one of its parts: the message with this part only.
    fileprivate init(withPart row: borrowing Row) throws {
        self = try MessageRow(row).message(
            with: try row.optionalBlob(9) == nil ? [] : [try MessagePart(row, from: 9)])
    }

    /// Joins the parts of rows of the same message; `nil` without rows.
    ///
    /// - Parameter rows: The message with one of its parts each time, in order.
    fileprivate init?(joining rows: [Message]) {
        guard let first = rows.first else { return nil }
        self = first
        if rows.count > 1 { parts = rows.flatMap(\.parts) }
    }
}

extension MessagePart {
    /// Reads the columns `id, part_index, mime_type, body, content, size, updated_at`.
    ///
    /// - Parameter first: The index of the first of them.
    fileprivate init(_ row: borrowing Row, from first: Int = 0) throws {
        func column(_ index: Int) -> Column { .index(first + index) }
        let body: Body =
            if let content = try row.optionalID(column(4)) as Content.ID? {
                .content(content, size: try row.int64(column(5)))
            } else {
                .inline(try row.blob(column(3)))
            }
        self.init(
            id: try row.id(column(0)), index: try row.int(column(1)),
            mimeType: try row.text(column(2)), body: body,
            updatedAt: try row.optionalTimestamp(column(6)))
    }
}
