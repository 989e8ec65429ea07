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

    /// From the columns in the order of the statements in `Transaction+Views`.
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
    }
}
