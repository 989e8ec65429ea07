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
    /// Whether it is wide and shows only its first participants (ruling 38).
    let isWide: Bool
    /// The number of participants that are shown to be in it; 0 for a former participant.
    let participantCount: Int
    let unreadCount: Int64
    fileprivate let totalCount: Int64
    let lastMessage: Message.ID?
    /// The approximate size in a response, in bytes.
    let weight: Int64

    /// The columns that ``init(_:)`` reads, in this order, and their tables.
    static let columns: SQL = "\(values) FROM participants p \(tables)"

    /// The columns alone.
    fileprivate static let values: SQL =
        """
        c.id, c.created_at, c.is_distinct, c.version, p.left_after,
            COALESCE(p.frozen_metadata, c.metadata), p.unread_count + p.is_wide * c.message_count,
            p.total_count + p.is_wide * c.message_count,
            CASE WHEN p.is_wide = 1 THEN \(lastVisible: "id") ELSE p.last_message END,
            CASE WHEN p.is_wide = 1 THEN \(lastVisible: "weight") ELSE (
                SELECT weight FROM messages m
                WHERE m.application = p.application AND m.id = p.last_message
            ) END,
            CAST(LENGTH(COALESCE(p.frozen_metadata, c.metadata)) AS BIGINT), c.is_wide,
            c.participant_count
        """

    /// The tables besides the row of the participant, `p`.
    fileprivate static let tables: SQL =
        "JOIN conversations c ON c.application = p.application AND c.id = p.conversation"

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
        isWide = try row.bool(11)
        participantCount = isFormer ? 0 : try row.int(12)
    }

    /// The weight of a row, which is needed before its other columns are read.
    static func weight(_ row: borrowing Row) throws -> Int64 {
        try (row.optionalInt64(9) ?? 0) + row.int64(10)
    }
}

extension Transaction {
    /// A page of a user's list, read from its index, as many items as fit into one response.
    ///
    /// - Parameter hasWide: Whether there are wide conversations in the list.
    func views(
        of user: UserID, sortedBy order: ConversationOrder, hasWide: Bool,
        after cursor: ViewCursor, limit: Int, in application: Application.ID
    ) throws -> BoundedPage<ConversationViewRow> {
        try boundedPage(
            .views(
                of: user, sortedBy: order, hasWide: hasWide, after: cursor, limit: limit,
                in: application),
            weight: { row in try ConversationViewRow.weight(row) }
        ) { row in try ConversationViewRow(row) }
    }

    /// A conversation as a current or former participant sees it, whatever the state of their view; `nil` for any other
    /// user, and when it is deleted.
    func view(
        of conversation: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> ConversationViewRow? {
        try first(
            """
            SELECT \(ConversationViewRow.columns)
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
            SELECT p.conversation_created_at,
                CASE WHEN p.is_wide = 1 THEN \(SQL.lastAt) ELSE p.last_at END
            FROM participants p
            WHERE p.application = \(application) AND p.conversation = \(conversation)
                AND p.user_id = \(user) AND p.state = 'shown'
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

    /// Conversations of users' lists, each as one user sees it.
    ///
    /// - Parameter keys: A few lengths, because each has a statement of its own on SQLite.
    func viewRows(
        of keys: [ViewKey], in application: Application.ID
    ) throws -> [(ViewKey, ConversationViewRow)] {
        try self.rows(
            """
            SELECT \(ConversationViewRow.values), p.user_id
            FROM \(table: "named", of: ViewKey.columns(of: keys))
            JOIN participants p ON p.application = \(application)
                AND p.conversation = named.column1 AND p.user_id = named.column2
            \(ConversationViewRow.tables)
            WHERE p.state = 'shown'
            """
        ) { row in
            let view = try ConversationViewRow(row)
            return (ViewKey(conversation: view.id, user: try row.user(13)), view)
        }
    }

    /// The views of the rows with their last messages, in a constant number of statements, and one for each wide
    /// conversation.
    func views(
        _ rows: [ConversationViewRow], seenBy user: UserID, in application: Application.ID
    ) throws -> [ConversationView] {
        guard !rows.isEmpty else { return [] }
        let participants = try participants(shownBy: rows, in: application)
        let messages = try messages(rows.compactMap(\.lastMessage), in: application)
        let snapshots = try snapshots(
            of: Array(messages.values), seenBy: .user(user), in: application)
        let lastMessages = Dictionary(grouping: snapshots, by: \.message.id)
            .compactMapValues(\.first)
        return rows.map { row in
            row.view(
                participants[row.id] ?? [],
                lastMessage: row.lastMessage.flatMap { id in lastMessages[id] })
        }
    }

    /// The identities of the participants that conversations show, which a former participant does not see.
    func participants(
        shownBy rows: [ConversationViewRow], in application: Application.ID
    ) throws -> [Conversation.ID: [BasicIdentity]] {
        let current = rows.filter { row in !row.isFormer }
        guard !current.isEmpty else { return [:] }
        let participants = try shownParticipants(
            of: current.map { row in (row.id, row.isWide) }, in: application)
        let identities = try identities(
            of: Set(participants.values.flatMap(\.users)), in: application)
        return participants.mapValues { shown in shown.users.map(identities.identity) }
    }
}

extension ConversationViewRow {
    /// The view with the participants that the conversation shows.
    func view(
        _ participants: [BasicIdentity], lastMessage: MessageSnapshot? = nil
    ) -> ConversationView {
        ConversationView(
            id: id, createdAt: createdAt, participants: isFormer ? [] : participants,
            participantCount: participantCount, isDistinct: isDistinct, metadata: metadata.view,
            lastMessage: lastMessage, unreadCount: unreadCount, totalCount: totalCount,
            isFormer: isFormer, version: version)
    }
}

extension SQL {
    /// A page of a user's list.
    ///
    /// - Parameter hasWide: Whether there are wide conversations in the list.
    static func views(
        of user: UserID, sortedBy order: ConversationOrder, hasWide: Bool,
        after cursor: ViewCursor, limit: Int, in application: Application.ID
    ) -> SQL {
        switch order {
        case .createdAt:
            """
            SELECT \(ConversationViewRow.columns)
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND (p.conversation_created_at, p.conversation) < (\(cursor.time), \(cursor.id))
            ORDER BY p.conversation_created_at DESC, p.conversation DESC LIMIT \(limit)
            """
        case .lastMessage where !hasWide:
            // Without the look-ups that merging two lists needs, which are a third of the time.
            """
            SELECT \(ConversationViewRow.columns)
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND p.is_wide = 0 AND (p.last_at, p.conversation) < (\(cursor.time), \(cursor.id))
            ORDER BY p.last_at DESC, p.conversation DESC LIMIT \(limit)
            """
        case .lastMessage:
            """
            SELECT \(ConversationViewRow.values)
            FROM (\(lastMessages(of: user, after: cursor, limit: limit, in: application))) l
            JOIN participants p ON p.application = \(application)
                AND p.conversation = l.conversation AND p.user_id = \(user)
            \(ConversationViewRow.tables)
            ORDER BY l.last_at DESC, l.conversation DESC LIMIT \(limit)
            """
        }
    }

    /// The first conversations of a user's list by last message, and those that are wide: the others are read from
    /// an index, the wide ones are all looked up.
    private static func lastMessages(
        of user: UserID, after cursor: ViewCursor, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT conversation, last_at FROM (
            SELECT conversation, last_at FROM participants
            WHERE application = \(application) AND user_id = \(user) AND state = 'shown'
                AND is_wide = 0 AND (last_at, conversation) < (\(cursor.time), \(cursor.id))
            ORDER BY last_at DESC, conversation DESC LIMIT \(limit)
        ) n
        UNION ALL
        SELECT conversation, last_at FROM (
            SELECT p.conversation, \(lastAt) AS last_at FROM participants p
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND p.is_wide = 1
        ) w
        WHERE (last_at, conversation) < (\(cursor.time), \(cursor.id))
        """
    }

    /// The time of the last message of the participant `p` of a wide conversation, or else of creation.
    fileprivate static let lastAt: SQL =
        "COALESCE(\(lastVisible: "sent_at"), p.conversation_created_at)"
}

extension SQL.StringInterpolation {
    /// A column of the last message in the view of the row `p` of `participants`.
    mutating func appendInterpolation(lastVisible column: StaticString) {
        appendLiteral("(SELECT v.")
        appendInterpolation(raw: column)
        appendLiteral(
            """
             FROM messages v
            WHERE v.application = p.application AND v.conversation = p.conversation
                AND v.position > p.cleared_to
                AND NOT EXISTS (
                    SELECT 1 FROM hidden_messages h
                    WHERE h.application = v.application AND h.conversation = v.conversation
                        AND h.position = v.position AND h.user_id = p.user_id
                )
            ORDER BY v.position DESC LIMIT 1)
            """)
    }
}
