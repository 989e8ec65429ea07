import Messaging
import SQL

// Queries that are sent before a change of a message runs. The change itself reads the rows of the conversation by its
// id, which is known only when the message has been read; these queries read the same rows by the id of the message.
extension Transaction {
    /// Queries a message, its conversation, and the end of the log, which every event needs.
    func prefetchMessage(_ id: Message.ID, in application: Application.ID) throws {
        _ = try queryLogEnd(in: application)
        prefetch(id, by: CommitGroup("messages", in: application.bytes)) { transaction, ids in
            try transaction.prefetchMessages(ids, in: application)
            try transaction.prefetchLocked(
                """
                IN (
                    SELECT conversation FROM messages
                    WHERE application = \(application) AND id \(in: ids)
                )
                """, in: application)
        }
    }

    /// Queries the receipts of all participants in the conversation of a message, and which of them the message is hidden
    /// from.
    func prefetchReceipts(of id: Message.ID, in application: Application.ID) throws {
        // In a wide conversation they are counted instead.
        let narrow: SQL =
            """
            (
                SELECT id FROM conversations
                WHERE application = \(application) AND id = \(conversationID(of: id, in: application))
                    AND is_wide = 0
            )
            """
        try prefetch(PositionedReceipts.sql(in: narrow, of: application)) { row in
            let receipts = try PositionedReceipts(row)
            return (PositionedReceipts.cacheKey(of: try row.id(6), in: application), receipts)
        }
        try prefetch(
            """
            SELECT m.conversation, m.position, h.user_id FROM messages m
            LEFT JOIN hidden_messages h ON h.application = m.application
                AND h.conversation = m.conversation AND h.position = m.position
            WHERE m.application = \(application) AND m.id = \(id)
            ORDER BY h.user_id
            """
        ) { row in
            (
                Self.usersNotSeeing(try row.position(1), in: try row.id(0), of: application),
                try row.optionalUser(2)
            )
        }
    }

    /// Queries what determines whether a user exists and sees a message.
    func prefetchView(
        of id: Message.ID, by user: UserID, in application: Application.ID
    ) throws {
        _ = try queryIdentity(of: user, in: application)
        try prefetch(
            """
            SELECT \(raw: Participant.columns), conversation
            FROM participants
            WHERE application = \(application) AND user_id = \(user)
                AND conversation = \(conversationID(of: id, in: application))
            """
        ) { row in
            let owner = ReceiptOwner(conversation: try row.id(6), user: user)
            return (Participant.cacheKey(of: owner, in: application), try Participant(row))
        }
        try prefetch(
            """
            SELECT m.conversation, m.position, h.position FROM messages m
            LEFT JOIN hidden_messages h ON h.application = m.application
                AND h.conversation = m.conversation AND h.position = m.position
                AND h.user_id = \(user)
            WHERE m.application = \(application) AND m.id = \(id)
            """
        ) { row in
            let owner = ReceiptOwner(conversation: try row.id(0), user: user)
            let number = try row.int64(1)
            return (
                Self.hiddenPositions(of: owner, within: number...number, in: application),
                try row.optionalInt64(2)
            )
        }
    }

    /// Queries what a receipt of a message by a user depends on.
    func prefetchReceipt(
        of id: Message.ID, by user: UserID, in application: Application.ID
    ) throws {
        try prefetchMessage(id, in: application)
        prefetchIdentities(of: [user], in: application)
        prefetch(
            NamedReceipt(message: id, user: user),
            by: CommitGroup("receipts", in: application.bytes)
        ) { transaction, receipts in
            let named: SQL =
                """
                \(table: "named", of: [
                    .blobs(receipts.map(\.message.bytes)), .texts(receipts.map(\.user.text)),
                ])
                JOIN messages m ON m.application = \(application) AND m.id = named.column1
                """
            try transaction.prefetchPositions(named, in: application)
            try transaction.prefetchViews(named, in: application)
        }
    }

    /// Queries whether messages are hidden from users, and which messages of other senders are near.
    ///
    /// - Parameter named: The messages `m` and users `named.column2`.
    private func prefetchPositions(_ named: SQL, in application: Application.ID) throws {
        try prefetchRows(
            """
            SELECT m.conversation, named.column2, m.position, m.sender_user, h.position,
                \(NearbyMessages.columns)
            FROM \(named)
            LEFT JOIN hidden_messages h ON h.application = m.application
                AND h.conversation = m.conversation AND h.position = m.position
                AND h.user_id = named.column2
            """
        ) { row, prefetched in
            let owner = ReceiptOwner(conversation: try row.id(0), user: try row.user(1))
            let number = try row.int64(2)
            prefetched.store(
                try row.optionalInt64(4),
                for: Self.hiddenPositions(of: owner, within: number...number, in: application))
            prefetched.store(
                NearbyMessages(
                    before: try row.optionalInt64(5), isAt: try row.optionalUser(3) != owner.user,
                    after: try row.optionalInt64(6)),
                for: NearbyMessages.cacheKey(at: number, of: owner, in: application))
        }
    }

    /// Queries the participants and receipts of users in the conversations of messages, each once.
    ///
    /// - Parameter named: The messages `m` and users `named.column2`.
    private func prefetchViews(_ named: SQL, in application: Application.ID) throws {
        try prefetchRows(
            """
            SELECT o.conversation, o.user_id, p.user_id, p.past, p.joined_after, p.left_after,
                p.state, p.cleared_to, p.unread_count, p.unshown_count, p.is_wide, r.delivered,
                r.read
            FROM (
                SELECT DISTINCT m.conversation, named.column2 AS user_id FROM \(named)
            ) AS o
            LEFT JOIN participants p ON p.application = \(application)
                AND p.conversation = o.conversation AND p.user_id = o.user_id
            LEFT JOIN receipts r ON r.application = \(application)
                AND r.conversation = o.conversation AND r.user_id = o.user_id
            """
        ) { row, prefetched in
            let owner = ReceiptOwner(conversation: try row.id(0), user: try row.user(1))
            let isParticipant = try row.optionalText(2) != nil
            prefetched.store(
                isParticipant ? try Participant(row, from: 2) : nil,
                for: Participant.cacheKey(of: owner, in: application))
            prefetched.store(
                isParticipant ? try ViewCounts(row, from: 8) : nil,
                for: ViewCounts.cacheKey(of: owner, in: application))
            prefetched.store(
                try row.optionalText(11) == nil ? nil : try Receipts(row, from: 11),
                for: Receipts.cacheKey(of: owner, in: application))
        }
    }

    /// The conversation of a message, as a value in a statement.
    private func conversationID(of id: Message.ID, in application: Application.ID) -> SQL {
        "(SELECT conversation FROM messages WHERE application = \(application) AND id = \(id))"
    }
}

extension RowKey {
    /// The row of a conversation, or the rows of another table that belong to it.
    ///
    /// For the table `messages` it covers only positions and senders; ``message(_:in:_:)`` covers the rest of a row, and
    /// ``message(at:in:of:)`` a single position.
    static func conversation(
        _ id: Conversation.ID, in application: Application.ID, _ table: String = "conversations"
    ) -> RowKey {
        RowKey(application.bytes + id.bytes, in: table)
    }

    /// The row of the distinct conversation of a set of participants.
    ///
    /// - Parameter digest: That of its `DistinctKey`.
    static func distinctConversation(
        of digest: [UInt8], in application: Application.ID
    ) -> RowKey {
        RowKey(application.bytes + digest, in: "conversations")
    }

    /// The row of a message, or its parts.
    static func message(
        _ id: Message.ID, in application: Application.ID, _ table: String = "messages"
    ) -> RowKey {
        RowKey(application.bytes + id.bytes, in: table)
    }

    /// The row of the message at a position.
    static func message(
        at position: Position, in conversation: Conversation.ID, of application: Application.ID
    ) -> RowKey {
        RowKey(application.bytes + conversation.bytes + position.bytes, in: "messages")
    }

    /// The row of a user: whether the user exists, and the members of the identity that other objects show.
    static func user(_ user: UserID, in application: Application.ID) -> RowKey {
        RowKey(application.bytes + Array(user.text.utf8), in: "identities")
    }

    /// The counts in the rows of a conversation's participants, which messages and receipts change.
    static func viewCounts(
        of id: Conversation.ID, in application: Application.ID
    ) -> RowKey {
        RowKey(application.bytes + id.bytes + [1], in: "participants")
    }

    /// The receipts of all participants of a conversation together.
    static func allReceipts(
        of id: Conversation.ID, in application: Application.ID
    ) -> RowKey {
        RowKey(application.bytes + id.bytes + [1], in: "receipts")
    }
}

/// A receipt as a request names it.
private struct NamedReceipt: Hashable {
    let message: Message.ID
    let user: UserID
}

/// The positions of the nearest messages of other senders, at a position and on both sides of it.
struct NearbyMessages {
    /// The last position before; `nil` for none within ``distance``.
    let before: Int64?
    /// Whether the message at the position has another sender.
    let isAt: Bool
    /// The first position after; `nil` for none within ``distance``.
    let after: Int64?

    /// The maximum difference of positions that are looked up.
    static var distance: Int64 { 64 }

    /// Selects `before` and `after` of a row `m` of `messages`.
    ///
    /// The messages of the user `named.column2` are left out.
    fileprivate static let columns: SQL =
        """
        (
            SELECT MAX(o.position) FROM messages o
            WHERE o.application = m.application AND o.conversation = m.conversation
                AND o.position < m.position AND o.position >= m.position - \(distance)
                AND (o.sender_user IS NULL OR o.sender_user <> named.column2)
        ), (
            SELECT MIN(o.position) FROM messages o
            WHERE o.application = m.application AND o.conversation = m.conversation
                AND o.position > m.position AND o.position <= m.position + \(distance)
                AND (o.sender_user IS NULL OR o.sender_user <> named.column2)
        )
        """

    static func cacheKey(
        at position: Int64, of owner: ReceiptOwner, in application: Application.ID
    ) -> RowCacheKey<NearbyMessages> {
        RowCacheKey(
            of: [.conversation(owner.conversation, in: application, "messages")],
            aspect: Array("nearby \(position) \(owner.user.text)".utf8))
    }
}
