import Messaging
import SQL

/// A participant before a message reaches him.
struct Listener {
    let user: UserID
    let state: ViewState
    /// Whether he blocks its sender or is blocked by him.
    let isBlocked: Bool
}

extension Transaction {
    /// Who takes part now, in the order of naming, as a message meets them.
    ///
    /// - Parameter sender: Who sends it; `nil` for a service.
    func askListeners(
        in conversation: Conversation.ID, to sender: UserID?, in application: Application.ID
    ) throws -> DeferredRows<Listener> {
        try ask(
            """
            SELECT user_id, state, EXISTS (
                SELECT 1 FROM blocks b
                WHERE b.application = p.application AND b.owner = p.user_id
                    AND b.blocked = \(sender) AND b.owner <> b.blocked
            ), EXISTS (
                SELECT 1 FROM blocks b
                WHERE b.application = p.application AND b.owner = \(sender)
                    AND b.blocked = p.user_id AND b.owner <> b.blocked
            )
            FROM participants p
            WHERE application = \(application) AND conversation = \(conversation)
                AND left_after IS NULL
            ORDER BY place
            """,
            as: RowCacheKey(
                of: application.bytes + conversation.bytes, in: "participants", "blocks",
                aspect: Array("listeners \(sender?.text ?? "")".utf8))
        ) { row in
            Listener(
                user: try row.user(0), state: try row.viewState(1),
                isBlocked: try row.int64(2) + row.int64(3) > 0)
        }
    }
}
