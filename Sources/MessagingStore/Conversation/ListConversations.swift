public import Messaging
import SQL

/// The order of a user's conversations, always descending (platform-api 5.1.3).
public enum ConversationOrder: Sendable {
    /// By creation, then by id.
    case createdAt
    /// By the time of the last visible message, or else of creation, then by id.
    case lastMessage
}

extension MessagingStore {
    /// A page of an application's live conversations as the system sees them, newest first, including those
    /// that no participant sees yet (R55).
    ///
    /// - Parameters:
    ///   - filter: Selects conversations, whose number is the total; see `Transaction.filtered` for the cost.
    ///   - after: The last item of the previous page, by its own id or an alias; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: `Rejection.tooMany`; `notFound(.conversation)` for an `after` that is not live.
    public func conversations(
        matching filter: ConversationFilter = ConversationFilter(), after: Conversation.ID? = nil,
        limit: Int, isCounted: Bool = true, in application: Application.ID
    ) async throws -> ListPage<ConversationSnapshot> {
        try await database.read { transaction in
            let winner = try after.map { after in
                try transaction.winner(of: after, in: application) ?? after
            }
            let cursor = try winner.map { winner in
                guard let cursor = try transaction.cursor(of: winner, in: application) else {
                    throw Rejection.notFound(.conversation)
                }
                return cursor
            }
            let found =
                try filter.isEmpty
                ? FilteredPage(
                    page: transaction.conversations(
                        after: cursor ?? .top, limit: limit, in: application),
                    total: isCounted ? transaction.conversationCount(in: application) : nil)
                : transaction.conversations(
                    matching: filter, after: cursor, limit: limit, isCounted: isCounted,
                    in: application)
            return ListPage(
                items: try transaction.snapshots(of: found.page.items, in: application),
                total: found.total, after: winner, isCut: found.page.isCut,
                searchedTo: found.searchedTo?.id.uuid)
        }
    }

    /// A page of the conversations of a current or former participant, as the user sees them.
    ///
    /// - Parameters:
    ///   - filter: Selects conversations, whose number is the total; see `Transaction.filtered` for the cost.
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    /// - Throws: `Rejection.tooMany`; `notFound(.user)` for an unknown user; `notFound(.conversation)` for an
    ///   `after` that is not in the list.
    public func conversations(
        of user: UserID, matching filter: ConversationFilter = ConversationFilter(),
        sortedBy order: ConversationOrder = .createdAt, after: Conversation.ID? = nil, limit: Int,
        isCounted: Bool = true, in application: Application.ID
    ) async throws -> ListPage<ConversationView> {
        try await database.read { transaction in
            guard
                let count = try transaction.conversationCount(of: user, in: application)
            else { throw Rejection.notFound(.user) }
            let winner = try after.map { after in
                try transaction.winner(of: after, in: application) ?? after
            }
            let cursor = try winner.map { winner in
                guard
                    let cursor = try transaction.cursor(
                        of: winner, for: user, sortedBy: order, in: application)
                else { throw Rejection.notFound(.conversation) }
                return cursor
            }
            guard filter.isEmpty else {
                let found = try transaction.views(
                    of: user, matching: filter, sortedBy: order, hasWide: count.hasWide,
                    after: winner, limit: limit, isCounted: isCounted, in: application)
                return ListPage(
                    items: try transaction.views(
                        found.page.items, seenBy: user, in: application),
                    total: found.total, after: winner, isCut: found.page.isCut,
                    searchedTo: found.searchedTo?.id.uuid)
            }
            let page = try transaction.views(
                of: user, sortedBy: order, hasWide: count.hasWide, after: cursor ?? .top,
                limit: limit, in: application)
            return ListPage(
                items: try transaction.views(page.items, seenBy: user, in: application),
                total: count.total, after: winner, isCut: page.isCut)
        }
    }
}

/// A conversation of an application's list, without its participants.
private struct ConversationRow: FilterableItem {
    let conversation: Conversation
    let weight: Int64

    var id: Conversation.ID { conversation.id }

    var cursor: CreationCursor<Conversation.ID> {
        CreationCursor(time: conversation.createdAt, id: id)
    }
}

extension Transaction {
    /// A page of an application's live conversations, read from their index, as many as fit into one response.
    fileprivate func conversations(
        after cursor: CreationCursor<Conversation.ID>, limit: Int, in application: Application.ID
    ) throws -> BoundedPage<ConversationRow> {
        try boundedPage(
            .conversations(after: cursor, limit: limit, in: application),
            weight: { row in try row.int64(12) }
        ) { row in
            ConversationRow(conversation: try Conversation(row), weight: try row.int64(12))
        }
    }

    /// The live conversations that pass a filter, after one of them, and the number of all that pass.
    ///
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` had to be checked.
    fileprivate func conversations(
        matching filter: ConversationFilter, after last: CreationCursor<Conversation.ID>?,
        limit: Int, isCounted: Bool, in application: Application.ID
    ) throws -> FilteredPage<ConversationRow> {
        let (start, last) = CreationCursor.search(
            after: last, before: filter.createdBefore, isCounted: isCounted)
        return try filtered(
            from: start, after: last, limit: limit, isCounted: isCounted
        ) { cursor, limit in
            try conversations(after: cursor, limit: limit, in: application)
        } passes: { rows in
            let present = try filteredParticipants(of: rows.map(\.id), filter, in: application)
            return rows.map { row in
                filter.admits(
                    present[row.id, default: 0], of: row.conversation.participantCount,
                    isDistinct: row.conversation.isDistinct,
                    metadata: row.conversation.metadata.view,
                    createdAt: row.conversation.createdAt)
            }
        } cursor: { row in
            if let after = filter.createdAfter, row.conversation.createdAt <= after { return nil }
            return row.cursor
        }
    }

    /// The position of a conversation in the list; `nil` when it is not live.
    func cursor(
        of id: Conversation.ID, in application: Application.ID
    ) throws -> CreationCursor<Conversation.ID>? {
        try first(
            """
            SELECT created_at FROM conversations
            WHERE application = \(application) AND id = \(id) AND deleted_at IS NULL
            """
        ) { row in CreationCursor(time: try row.timestamp(0), id: id) }
    }

    /// The snapshots of the rows, in a constant number of statements.
    fileprivate func snapshots(
        of rows: [ConversationRow], in application: Application.ID
    ) throws -> [ConversationSnapshot] {
        guard !rows.isEmpty else { return [] }
        let participants = try shownParticipants(
            of: rows.map { row in (row.id, row.conversation.isWide) }, in: application)
        let identities = try identities(
            of: Set(participants.values.flatMap(\.users)), in: application)
        return rows.map { row in
            var conversation = row.conversation
            conversation.participants = participants[row.id] ?? Participants([])
            return ConversationSnapshot(
                conversation: conversation,
                participants: conversation.participants.users.map(identities.identity))
        }
    }
}

extension SQL {
    /// A page of an application's live conversations, newest first; see `Conversation.columns`.
    static func conversations(
        after cursor: CreationCursor<Conversation.ID>, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT \(raw: Conversation.columns), CAST(LENGTH(metadata) AS BIGINT) FROM conversations
        WHERE application = \(application) AND deleted_at IS NULL
            AND (created_at, id) < (\(cursor.time), \(cursor.id?.bytes ?? []))
        ORDER BY created_at DESC, id DESC LIMIT \(limit)
        """
    }
}

extension Transaction {
    /// The conversations of a user's list that pass a filter, after one of them, and the number of all that pass.
    ///
    /// If the list is sorted by creation, only the part of the index between the time bounds of the filter is read.
    ///
    /// - Parameter hasWide: Whether there are wide conversations in the list.
    /// - Returns: The conversations that pass, as many as fit into one response, and the number of all that pass.
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` rows had to be checked.
    func views(
        of user: UserID, matching filter: ConversationFilter, sortedBy order: ConversationOrder,
        hasWide: Bool, after last: Conversation.ID?, limit: Int, isCounted: Bool,
        in application: Application.ID
    ) throws -> FilteredPage<ConversationViewRow> {
        var start = ViewCursor.top
        var last = last
        let known = try last.flatMap { last in
            try cursor(of: last, for: user, sortedBy: order, in: application)
        }
        if order == .createdAt, let before = filter.createdBefore {
            start = ViewCursor(time: before, id: [])
            if let known, known.time >= before { last = nil }
        }
        if !isCounted, last != nil, let known { (start, last) = (known, nil) }
        return try filtered(
            from: start, after: last, limit: limit, isCounted: isCounted
        ) { cursor, limit in
            try views(
                of: user, sortedBy: order, hasWide: hasWide, after: cursor, limit: limit,
                in: application)
        } passes: { rows in
            let present = try filteredParticipants(
                of: rows.filter { row in !row.isFormer }.map(\.id), filter, in: application)
            return rows.map { row in
                filter.admits(
                    present[row.id, default: 0], of: row.participantCount,
                    isDistinct: row.isDistinct,
                    metadata: row.metadata.view, createdAt: row.createdAt)
            }
        } cursor: { row in
            if order == .createdAt, let after = filter.createdAfter, row.createdAt <= after {
                return nil
            }
            return try cursor(of: row.id, for: user, sortedBy: order, in: application)
        }
    }
}
