public import Messaging
import SQL

extension MessagingStore {
    /// A page of an application's users, newest first, including users that were only named by others (R90).
    ///
    /// - Parameters:
    ///   - filter: Selects users, whose number is the total; see `Transaction.filtered` for the cost.
    ///   - after: The last user of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of users, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: `Rejection.tooMany`; `notFound(.user)` for an unknown `after`.
    public func users(
        matching filter: UserFilter = UserFilter(), after: UserID? = nil, limit: Int,
        isCounted: Bool = true, in application: Application.ID
    ) async throws -> ListPage<User> {
        try await database.read { transaction in
            let cursor = try after.map { after in
                guard let cursor = try transaction.cursor(of: after, in: application) else {
                    throw Rejection.notFound(.user)
                }
                return cursor
            }
            let found =
                try filter.isEmpty
                ? FilteredPage(
                    page: transaction.users(
                        after: cursor ?? .top, limit: limit, in: application),
                    total: isCounted ? transaction.userCount(in: application) : nil)
                : transaction.users(
                    matching: filter, after: cursor, limit: limit, isCounted: isCounted,
                    in: application)
            return ListPage(
                items: try transaction.users(found.page.items.map(\.id), in: application),
                total: found.total, isCut: found.page.isCut, searchedTo: found.searchedTo?.id.text)
        }
    }
}

/// A user of an application's list, with the members that a filter checks.
private struct UserRow: FilterableItem {
    let id: UserID
    let displayName: String?
    let isSuspended: Bool
    let createdAt: Timestamp
    let weight: Int64

    var cursor: CreationCursor<UserID> { CreationCursor(time: createdAt, id: id) }

    init(_ row: borrowing Row) throws {
        id = try row.user(0)
        displayName = try row.optionalText(1)
        isSuspended = try row.bool(2)
        createdAt = try row.timestamp(3)
        weight = try (row.optionalInt64(4) ?? 0) + (row.optionalInt64(5) ?? 0)
    }
}

extension Transaction {
    fileprivate func users(
        after cursor: CreationCursor<UserID>, limit: Int, in application: Application.ID
    ) throws -> BoundedPage<UserRow> {
        BoundedPage(
            try rows(.users(after: cursor, limit: limit, in: application)) { row in
                try UserRow(row)
            }, weight: \.weight)
    }

    fileprivate func users(
        matching filter: UserFilter, after last: CreationCursor<UserID>?, limit: Int,
        isCounted: Bool, in application: Application.ID
    ) throws -> FilteredPage<UserRow> {
        let (start, last) = CreationCursor.search(
            after: last, before: filter.createdBefore, isCounted: isCounted)
        return try filtered(
            from: start, after: last, limit: limit, isCounted: isCounted
        ) { cursor, limit in
            // The rows are small, so a chunk is not limited by its size.
            BoundedPage(
                items: try rows(.users(after: cursor, limit: limit, in: application)) { row in
                    try UserRow(row)
                })
        } passes: { users in
            users.map { user in
                filter.admits(
                    user.id, displayName: user.displayName, isSuspended: user.isSuspended,
                    createdAt: user.createdAt)
            }
        } cursor: { user in
            if let after = filter.createdAfter, user.createdAt <= after { return nil }
            return user.cursor
        }
    }

    /// The position of a user in the list; `nil` for an unknown user.
    fileprivate func cursor(
        of user: UserID, in application: Application.ID
    ) throws -> CreationCursor<UserID>? {
        try first(
            """
            SELECT created_at FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in CreationCursor(time: try row.timestamp(0), id: user) }
    }

    /// The stored users, in the order of their ids in the argument.
    fileprivate func users(
        _ ids: [UserID], in application: Application.ID
    ) throws -> [User] {
        guard !ids.isEmpty else { return [] }
        let found = try rows(
            """
            SELECT \(raw: User.columns) FROM identities i
            WHERE i.application = \(application) AND i.user_id \(in: ids)
            """
        ) { row in try User(row) }
        let byID = Dictionary(found.map { user in (user.id, user) }) { first, _ in first }
        return ids.compactMap { id in byID[id] }
    }
}

extension SQL {
    /// A page of an application's users, newest first; see `UserRow`.
    static func users(
        after cursor: CreationCursor<UserID>, limit: Int, in application: Application.ID
    ) -> SQL {
        """
        SELECT user_id, display_name, is_suspended, created_at,
            CAST(LENGTH(metadata) AS BIGINT), CAST(LENGTH(public_key) AS BIGINT)
        FROM identities
        WHERE application = \(application)
            AND (created_at, user_id) < (\(cursor.time), \(cursor.id?.text ?? ""))
        ORDER BY created_at DESC, user_id DESC LIMIT \(limit)
        """
    }
}
