import Messaging
import SQL

/// Where a conversation stands in a user's list.
struct ViewPlace {
    let time: Timestamp
    let id: [UInt8]

    /// Before everything.
    static let top = ViewPlace(
        time: Timestamp(milliseconds: .max), id: [UInt8](repeating: 0xFF, count: 16))
}

/// A conversation as the row of one participant shows it.
struct ViewRow {
    let id: Conversation.ID
    let createdAt: Timestamp
    let isDistinct: Bool
    let version: Int64
    let metadata: Metadata
    let isFormer: Bool
    let unreadCount: Int64
    let totalCount: Int64
    let lastMessage: Message.ID?
    /// The last place he may see.
    let lastPosition: Position

    /// What ``init(_:)`` reads, in this order, and the tables it comes from.
    static let columns: StaticString =
        """
        c.id, c.created_at, c.is_distinct, c.version, c.metadata, p.frozen_metadata,
            COALESCE(p.messages_until, c.message_count), p.left_after,
            p.messages_before + p.sent_count + p.read_count,
            (
                SELECT m.id FROM messages m
                WHERE m.application = p.application AND m.conversation = p.conversation
                    AND m.position <= COALESCE(p.left_after, c.last_position)
                ORDER BY m.position DESC LIMIT 1
            ), COALESCE(p.left_after, c.last_position)
        FROM participants p
        JOIN conversations c ON c.application = p.application AND c.id = p.conversation
        """

    /// From the columns above; the statement sorted by last message names them in the same order.
    init(_ row: borrowing Row) throws {
        id = try row.id(0)
        createdAt = try row.timestamp(1)
        isDistinct = try row.bool(2)
        version = try row.int64(3)
        isFormer = try row.optionalInt64(7) != nil
        metadata = isFormer ? try row.metadata(5) : try row.metadata(4)
        totalCount = try row.int64(6)
        unreadCount = max(0, totalCount - (try row.int64(8)))
        lastMessage = try row.optionalID(9)
        lastPosition = try row.position(10)
    }
}
