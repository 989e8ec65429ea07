public import Messaging
import SQL

extension MessagingStore {
    /// A conversation as a current or former participant sees it.
    ///
    /// - Parameter id: Its own id or an alias; the result has its own id.
    /// - Throws: `Rejection.notFound` of an unknown user, or of a conversation that the user never took part
    ///   in, does not see yet, has deleted or left, or that is deleted for all participants.
    public func conversation(
        _ id: Conversation.ID, seenBy user: UserID, in application: Application.ID
    ) async throws -> ConversationView {
        try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            let id = try transaction.shownConversation(id, for: user, in: application).id
            return try transaction.snapshot(of: id, seenBy: user, in: application)
        }
    }
}

/// A position in a user's list of conversations, newest first.
struct ViewCursor {
    /// The time that the list is sorted by.
    let time: Timestamp
    /// The id of the conversation before the position; empty for the position after all conversations of this time.
    let id: [UInt8]

    /// Before the first item.
    static let top = ViewCursor(
        time: Timestamp(milliseconds: .max), id: [UInt8](repeating: 0xFF, count: 16))
}

/// A conversation as the row of one participant shows it.
struct ConversationViewRow: FilterableItem {
    let id: Conversation.ID
    let createdAt: Timestamp
    let isDistinct: Bool
    fileprivate let version: Int64
    let metadata: Metadata
    let isFormer: Bool
    fileprivate let unreadCount: Int64
    fileprivate let totalCount: Int64
    fileprivate let lastMessage: Message.ID?
    /// The approximate size in a response, in bytes.
    let weight: Int64

    /// The columns that ``init(_:)`` reads, in this order, and their tables.
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

    /// The weight of a row, which is needed before its other columns are read.
    static func weight(_ row: borrowing Row) throws -> Int64 {
        try (row.optionalInt64(9) ?? 0) + row.int64(10)
    }
}

extension Transaction {
    /// A page of a user's list, read from its index, as many items as fit into one response.
    func views(
        of user: UserID, sortedBy order: ConversationOrder, after cursor: ViewCursor, limit: Int,
        in application: Application.ID
    ) throws -> BoundedPage<ConversationViewRow> {
        let page: SQL =
            switch order {
            case .createdAt:
                """
                SELECT \(raw: ConversationViewRow.columns)
                WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                    AND (p.conversation_created_at, p.conversation) < (\(cursor.time), \(cursor.id))
                ORDER BY p.conversation_created_at DESC, p.conversation DESC LIMIT \(limit)
                """
            case .lastMessage:
                """
                SELECT \(raw: ConversationViewRow.columns)
                WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                    AND (p.last_at, p.conversation) < (\(cursor.time), \(cursor.id))
                ORDER BY p.last_at DESC, p.conversation DESC LIMIT \(limit)
                """
            }
        return try boundedPage(page, weight: { row in try ConversationViewRow.weight(row) }) {
            row in
            try ConversationViewRow(row)
        }
    }

    /// A conversation as a current or former participant sees it, whatever the state of their view; `nil` for any other
    /// user, and when it is deleted.
    func view(
        of conversation: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> ConversationViewRow? {
        try first(
            """
            SELECT \(raw: ConversationViewRow.columns)
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user)
            """
        ) { row in try ConversationViewRow(row) }
    }

    /// The position of a conversation in a user's list; `nil` when it is not in the list.
    func cursor(
        of conversation: Conversation.ID, for user: UserID, sortedBy order: ConversationOrder,
        in application: Application.ID
    ) throws -> ViewCursor? {
        try first(
            """
            SELECT conversation_created_at, last_at FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user) AND state = 'shown'
            """
        ) { row in
            ViewCursor(
                time: try row.timestamp(order == .createdAt ? 0 : 1), id: conversation.bytes)
        }
    }
}

extension Transaction {
    /// A conversation as a current or former participant sees it, with participants and last message.
    ///
    /// - Throws: `notFound(.conversation)` for any other user.
    func snapshot(
        of conversation: Conversation.ID, seenBy user: UserID, in application: Application.ID
    ) throws -> ConversationView {
        guard let row = try view(of: conversation, for: user, in: application),
            let view = try views([row], seenBy: user, in: application).first
        else { throw Rejection.notFound(.conversation) }
        return view
    }

    /// The views of the rows, in a constant number of statements.
    func views(
        _ rows: [ConversationViewRow], seenBy user: UserID, in application: Application.ID
    ) throws -> [ConversationView] {
        guard !rows.isEmpty else { return [] }
        let participants = try participants(
            of: rows.filter { row in !row.isFormer }.map(\.id), in: application)
        let identities = try identities(
            of: Set(participants.values.flatMap(\.users)), in: application)
        let messages = try messages(rows.compactMap(\.lastMessage), in: application)
        let snapshots = try snapshots(
            of: Array(messages.values), seenBy: .user(user), in: application)
        let lastMessages = Dictionary(grouping: snapshots, by: \.message.id)
            .compactMapValues(\.first)
        return rows.map { row in
            ConversationView(
                id: row.id, createdAt: row.createdAt,
                participants: (participants[row.id]?.users ?? []).map(identities.identity),
                isDistinct: row.isDistinct, metadata: row.metadata.view,
                lastMessage: row.lastMessage.flatMap { id in lastMessages[id] },
                unreadCount: row.unreadCount, totalCount: row.totalCount, isFormer: row.isFormer,
                version: row.version)
        }
    }

    /// The current participants of several conversations, each in order.
    func participants(
        of conversations: [Conversation.ID], in application: Application.ID
    ) throws -> [Conversation.ID: Participants] {
        let found = try rows(
            """
            SELECT conversation, user_id FROM participants
            WHERE application = \(application)
                AND conversation \(in: conversations) AND left_after IS NULL
            ORDER BY place
            """
        ) { row in (conversation: try row.id(0) as Conversation.ID, user: try row.user(1)) }
        return Dictionary(grouping: found, by: \.conversation)
            .mapValues { members in Participants(members.map(\.user)) }
    }
}
