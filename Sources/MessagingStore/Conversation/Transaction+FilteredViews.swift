import Messaging
import SQL

extension Transaction {
    /// The rows of a user's list that pass a filter, behind a place in the list, and how many pass in
    /// all of it.
    ///
    /// In the order of creation the times of the filter are places in the index.
    ///
    /// - Returns: What passes, as much as one answer holds, and how much passes in all.
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` rows had to be checked.
    func views(
        of user: UserID, matching filter: ConversationFilter, sortedBy order: ConversationOrder,
        after last: Conversation.ID?, limit: Int, in application: Application.ID
    ) throws -> (stretch: Stretch<ViewRow>, total: Int64) {
        var start = ViewPlace.top
        var last = last
        if order == .createdAt, let before = filter.createdBefore {
            start = ViewPlace(time: before, id: [])
            let known = try last.flatMap { last in
                try place(of: last, for: user, sortedBy: order, in: application)
            }
            if let known, known.time >= before { last = nil }
        }
        return try filtered(from: start, after: last, limit: limit) { place, limit in
            try views(of: user, sortedBy: order, after: place, limit: limit, in: application)
        } passes: { rows in
            let present = try participants(
                of: rows.filter { row in !row.isFormer }.map(\.id), in: application)
            return rows.map { row in
                filter.admits(
                    present[row.id] ?? Participants([]), isDistinct: row.isDistinct,
                    metadata: row.metadata.view, createdAt: row.createdAt)
            }
        } place: { row in
            if order == .createdAt, let after = filter.createdAfter, row.createdAt <= after {
                return nil
            }
            return try place(of: row.id, for: user, sortedBy: order, in: application)
        }
    }
}
