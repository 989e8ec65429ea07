import Messaging
import SQL

extension Transaction {
    /// The rows of a user's list that pass a filter, behind a place in the list, and how many pass in
    /// all of it.
    ///
    /// The list is read from its index, piece by piece, and each row is judged: what a filter asks of
    /// participants and metadata no index knows. In the order of creation the times of the filter are
    /// places in that index.
    ///
    /// - Returns: What passes, as much as one answer holds, and how much passes in all.
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` rows had to be judged.
    func views(
        of user: UserID, matching filter: ConversationFilter, sortedBy order: ConversationOrder,
        after last: Conversation.ID?, limit: Int, in application: Application.ID
    ) throws -> (stretch: Stretch<ViewRow>, total: Int64) {
        var place = ViewPlace.top
        var isBehind = last == nil
        if order == .createdAt, let before = filter.createdBefore {
            place = ViewPlace(time: before, id: [])
            if let last,
                let known = try self.place(
                    of: last, for: user, sortedBy: order, in: application)
            {
                isBehind = known.time >= before
            }
        }
        var (found, budget) = (Stretch<ViewRow>(items: []), AnswerBudget())
        var (total, judged) = (Int64(0), 0)
        while true {
            let piece = try views(
                of: user, sortedBy: order, after: place, limit: Self.piece, in: application)
            let rows = piece.items
            judged += rows.count
            guard judged <= ConversationFilter.limit else { throw Rejection.tooMany }
            let present = try present(in: rows, in: application)
            for row in rows {
                let passes = filter.admits(
                    present[row.id] ?? Participants([]), isDistinct: row.isDistinct,
                    metadata: row.metadata.view, createdAt: row.createdAt)
                if passes { total += 1 }
                if passes, isBehind, found.items.count < limit {
                    found.isCut = found.isCut || !budget.admits(row.weight)
                    if !found.isCut { found.items.append(row) }
                }
                if row.id == last { isBehind = true }
            }
            guard rows.count == Self.piece || piece.isCut, let end = rows.last else {
                return (found, total)
            }
            if order == .createdAt, let after = filter.createdAfter, end.createdAt <= after {
                return (found, total)
            }
            guard
                let next = try self.place(of: end.id, for: user, sortedBy: order, in: application)
            else { return (found, total) }
            place = next
        }
    }

    /// How many rows are judged at once.
    private static var piece: Int { 512 }

    private func present(
        in rows: [ViewRow], in application: Application.ID
    ) throws -> [Conversation.ID: Participants] {
        try participants(
            of: rows.filter { row in !row.isFormer }.map(\.id), in: application)
    }
}
