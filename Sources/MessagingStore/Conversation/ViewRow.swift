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
struct ViewRow: FilteredItem {
    let id: Conversation.ID
    let createdAt: Timestamp
    let isDistinct: Bool
    let version: Int64
    let metadata: Metadata
    let isFormer: Bool
    let unreadCount: Int64
    let totalCount: Int64
    let lastMessage: Message.ID?
    /// Bytes an answer that shows it holds, about.
    let weight: Int64

    /// What ``init(_:)`` reads, in this order, and the tables it comes from.
    static let columns: StaticString =
        """
        c.id, c.created_at, c.is_distinct, c.version, p.left_after,
            COALESCE(p.frozen_metadata, c.metadata), p.unread_count, p.total_count, p.last_message,
            (
                SELECT weight FROM messages m
                WHERE m.application = p.application AND m.id = p.last_message
            ), CAST(LENGTH(COALESCE(p.frozen_metadata, c.metadata)) AS BIGINT)
        FROM participants p
        JOIN conversations c ON c.application = p.application AND c.id = p.conversation
        """

    init(_ row: borrowing Row) throws {
        id = try row.id(0)
        createdAt = try row.timestamp(1)
        isDistinct = try row.bool(2)
        version = try row.int64(3)
        isFormer = try row.optionalInt64(4) != nil
        metadata = try row.metadata(5)
        unreadCount = try row.int64(6)
        totalCount = try row.int64(7)
        lastMessage = try row.optionalID(8)
        weight = try Self.weight(row)
    }

    /// The same before anything else is read of it.
    static func weight(_ row: borrowing Row) throws -> Int64 {
        try (row.optionalInt64(9) ?? 0) + row.int64(10)
    }
}
