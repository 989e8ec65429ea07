public import Messaging
import SQL

extension MessagingStore {
    /// A page of an application's conversations that live, newest first, as the system sees them; also
    /// those that no participant sees yet (R55).
    ///
    /// - Parameters:
    ///   - filter: Which of them, with their number as the total; see `Transaction.filtered` for its cost.
    ///   - after: The item before the page, by its own id or an alias; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.tooMany`; `notFound(.conversation)` for an `after` that does not live.
    public func conversations(
        matching filter: ConversationFilter = ConversationFilter(), after: Conversation.ID? = nil,
        limit: Int, in application: Application.ID
    ) async throws -> Page<ConversationSnapshot> {
        try await database.read { transaction in
            let winner = try after.map { after in
                try transaction.winner(of: after, in: application) ?? after
            }
            let place = try winner.map { winner in
                guard let place = try transaction.place(of: winner, in: application) else {
                    throw Rejection.notFound(.conversation)
                }
                return place
            }
            let found =
                try filter.isEmpty
                ? (
                    stretch: transaction.conversations(
                        after: place ?? .top, limit: limit, in: application),
                    total: transaction.conversationCount(in: application)
                )
                : transaction.conversations(
                    matching: filter, after: place, limit: limit, in: application)
            return Page(
                items: try transaction.snapshots(of: found.stretch.items, in: application),
                total: found.total, behind: winner, isCut: found.stretch.isCut)
        }
    }

    /// A page of the conversations a user takes or took part in, as he sees them.
    ///
    /// - Parameters:
    ///   - filter: Which of them, with their number as the total; see `Transaction.filtered` for its cost.
    ///   - after: The item before the page; `nil` for the first page.
    ///   - limit: Most items, from one.
    /// - Throws: `Rejection.tooMany`; `notFound(.user)` for one nobody has named;
    ///   `notFound(.conversation)` for an `after` that is not in his list.
    public func conversations(
        of user: UserID, matching filter: ConversationFilter = ConversationFilter(),
        sortedBy order: ConversationOrder = .createdAt, after: Conversation.ID? = nil, limit: Int,
        in application: Application.ID
    ) async throws -> Page<ConversationView> {
        try await database.read { transaction in
            guard
                let total = try transaction.conversationCount(of: user, in: application)
            else { throw Rejection.notFound(.user) }
            let winner = try after.map { after in
                try transaction.winner(of: after, in: application) ?? after
            }
            let place = try winner.map { winner in
                guard
                    let place = try transaction.place(
                        of: winner, for: user, sortedBy: order, in: application)
                else { throw Rejection.notFound(.conversation) }
                return place
            }
            guard filter.isEmpty else {
                let found = try transaction.views(
                    of: user, matching: filter, sortedBy: order, after: winner, limit: limit,
                    in: application)
                return Page(
                    items: try transaction.views(
                        found.stretch.items, seenBy: user, in: application),
                    total: found.total, behind: winner, isCut: found.stretch.isCut)
            }
            let stretch = try transaction.views(
                of: user, sortedBy: order, after: place ?? .top, limit: limit, in: application)
            return Page(
                items: try transaction.views(stretch.items, seenBy: user, in: application),
                total: total, behind: winner, isCut: stretch.isCut)
        }
    }
}
