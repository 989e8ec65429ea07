import Messaging
import SQL

/// A current participant's view before a message is sent.
struct RecipientView {
    let user: UserID
    let state: ViewState
    /// The index in the order of participants.
    let place: Int64
    /// Whether the participant blocks the sender or is blocked by the sender.
    let isBlocked: Bool
}

extension Transaction {
    /// Queries the current participants, as recipients of a message. Of a wide conversation, only those that its
    /// sending concerns one by one: the sender, and those that do not see the conversation or the message. They may
    /// be listed twice.
    ///
    /// - Parameter sender: The sender of the message; `nil` for a service.
    func queryRecipients(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) throws -> DeferredRows<RecipientView> {
        try query(
            Self.recipients(in: conversation, to: sender, in: application),
            as: RecipientView.cacheKey(in: conversation, to: sender, in: application)
        ) { row in try RecipientView(row) }
    }

    private static func recipients(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) -> SQL {
        let columns: SQL = "SELECT \(RecipientView.columns(to: "\(sender)")) FROM conversations c"
        let participant = RecipientView.participant
        let isOfConversation: SQL =
            "WHERE c.application = \(application) AND c.id = \(conversation)"
        // The tables are joined in this order: the blocks of a sender are read for a wide conversation only.
        return
            """
            \(columns) JOIN \(participant) \(isOfConversation) AND c.is_wide = 0 AND p.left_after IS NULL
            UNION ALL
            \(columns) JOIN \(participant) \(isOfConversation)
                AND c.is_wide = 1 AND p.is_wide = 1 AND p.state <> 'shown'
            UNION ALL
            \(columns) JOIN \(participant) \(isOfConversation)
                AND c.is_wide = 1 AND p.is_wide = 1 AND p.user_id = \(sender)
            UNION ALL
            \(columns) CROSS JOIN blocks b JOIN \(participant) AND p.user_id = b.owner \(isOfConversation)
                AND c.is_wide = 1 AND p.is_wide = 1
                AND b.application = c.application AND b.blocked = \(sender)
            UNION ALL
            \(columns) CROSS JOIN blocks b JOIN \(participant) AND p.user_id = b.blocked \(isOfConversation)
                AND c.is_wide = 1 AND p.is_wide = 1
                AND b.application = c.application AND b.owner = \(sender)
            """
    }

    /// Queries the same ahead, except for a wide conversation.
    func prefetchRecipients(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) {
        prefetch(
            NamedSender(conversation: conversation, user: sender),
            by: CommitGroup("recipients", in: application.bytes)
        ) { transaction, named in
            let senders: [SQLArray] = [
                .blobs(named.map(\.conversation.bytes)),
                .texts(named.map { named in named.user?.text ?? "" }),
            ]
            try transaction.prefetch(
                """
                SELECT \(RecipientView.columns(to: "column2")), c.id, column2
                FROM \(table: "named", of: senders)
                JOIN conversations c ON c.application = \(application) AND c.id = column1
                JOIN \(RecipientView.participant)
                WHERE c.is_wide = 0 AND p.left_after IS NULL
                """
            ) { row in
                let sender = try row.text(6)
                return (
                    RecipientView.cacheKey(
                        in: try row.id(5), to: UserID(stored: sender), in: application),
                    try RecipientView(row)
                )
            }
        }
    }
}

/// A sender and the conversation that a message is sent to; `nil` for a service.
private struct NamedSender: Hashable {
    let conversation: Conversation.ID
    let user: UserID?
}

extension RecipientView {
    /// The columns that ``init(_:)`` reads, in this order, of a participant `p`.
    fileprivate static func columns(to sender: SQL) -> SQL {
        """
        p.user_id, p.state, p.place, EXISTS (
            SELECT 1 FROM blocks b
            WHERE b.application = p.application AND b.owner = p.user_id
                AND b.blocked = \(sender) AND b.owner <> b.blocked
        ), EXISTS (
            SELECT 1 FROM blocks b
            WHERE b.application = p.application AND b.owner = \(sender)
                AND b.blocked = p.user_id AND b.owner <> b.blocked
        )
        """
    }

    /// The participants `p` of a conversation `c`, to be joined.
    fileprivate static let participant: SQL =
        "participants p ON p.application = c.application AND p.conversation = c.id"

    fileprivate init(_ row: borrowing Row) throws {
        self.init(
            user: try row.user(0), state: try row.viewState(1), place: try row.int64(2),
            isBlocked: try row.int64(3) + row.int64(4) > 0)
    }

    fileprivate static func cacheKey(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) -> RowCacheKey<RecipientView> {
        RowCacheKey(
            of: application.bytes + conversation.bytes, in: "participants", "conversations",
            "blocks", aspect: Array("recipientViews \(sender?.text ?? "")".utf8))
    }
}

extension DeferredRows<RecipientView> {
    /// Each recipient once, in the order of the conversation.
    func inOrder() throws -> [RecipientView] {
        let views = try rows()
        let isSorted = zip(views, views.dropFirst()).allSatisfy { $0.place < $1.place }
        guard !isSorted else { return views }
        return Dictionary(views.map { ($0.user, $0) }) { first, _ in first }.values
            .sorted { left, right in (left.place, left.user) < (right.place, right.user) }
    }
}
