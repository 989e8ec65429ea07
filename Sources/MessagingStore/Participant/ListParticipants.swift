public import Messaging
import SQL

extension MessagingStore {
    /// A page of the participants of a conversation, current ones in their order, former ones by ascending id
    /// (ruling 38).
    ///
    /// - Parameters:
    ///   - id: The conversation, by its own id or an alias.
    ///   - areFormer: Whether former participants are listed instead of current ones.
    ///   - perspective: A former participant sees none (R14).
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: `Rejection`: `notFound` of the user, of a conversation that does not exist or is not in the user's
    ///   view, or of an `after` that is not in the list; `objectDeleted`.
    public func participants(
        in id: Conversation.ID, areFormer: Bool = false, seenBy perspective: Perspective = .system,
        after: UserID? = nil, limit: Int, isCounted: Bool = true,
        in application: Application.ID
    ) async throws -> ListPage<BasicIdentity> {
        try await database.read { transaction in
            let own: Conversation.ID
            var isShown = true
            switch perspective {
            case .system:
                own = try transaction.liveConversationID(id, in: application)
            case .user(let user):
                try transaction.requireUser(user, in: application)
                let (found, part) = try transaction.shownConversation(
                    id, for: user, in: application)
                (own, isShown) = (found, !part.isFormer)
            }
            let start = try after.map { after in
                let place = try transaction.place(
                    of: after, in: own, isFormer: areFormer, in: application)
                guard isShown, let place else { throw Rejection.notFound(.identity) }
                return place
            }
            guard isShown else { return ListPage(items: [], total: 0, in: own) }
            let users = try transaction.users(
                in: own, areFormer: areFormer, after: start.map { place in (place, after) },
                limit: limit, in: application)
            let identities = try transaction.identities(of: Set(users), in: application)
            return ListPage(
                items: users.map(identities.identity),
                total: isCounted
                    ? try transaction.participantCount(
                        in: own, areFormer: areFormer, in: application) : nil, in: own)
        }
    }
}

extension Transaction {
    /// The index of a current or former participant in the order; `nil` for any other user.
    fileprivate func place(
        of user: UserID, in conversation: Conversation.ID, isFormer: Bool,
        in application: Application.ID
    ) throws -> Int64? {
        try first(
            """
            SELECT place FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user) AND (left_after IS NOT NULL) = \(raw: isFormer ? "TRUE" : "FALSE")
            """
        ) { row in try row.int64(0) }
    }

    fileprivate func users(
        in conversation: Conversation.ID, areFormer: Bool, after: (place: Int64, user: UserID?)?,
        limit: Int, in application: Application.ID
    ) throws -> [UserID] {
        let page: SQL =
            areFormer
            ? """
            AND left_after IS NOT NULL AND user_id > \(after?.user?.text ?? "")
            ORDER BY user_id LIMIT \(limit)
            """
            : """
            AND left_after IS NULL AND place > \(after?.place ?? -1)
            ORDER BY place LIMIT \(limit)
            """
        return try rows(
            """
            SELECT user_id FROM participants
            WHERE application = \(application) AND conversation = \(conversation) \(page)
            """
        ) { row in try row.user(0) }
    }

    fileprivate func participantCount(
        in conversation: Conversation.ID, areFormer: Bool, in application: Application.ID
    ) throws -> Int64 {
        let count: SQL =
            areFormer
            ? """
            SELECT COUNT(*) FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND left_after IS NOT NULL
            """
            : """
            SELECT participant_count FROM conversations
            WHERE application = \(application) AND id = \(conversation)
            """
        return try first(count) { row in try row.int64(0) } ?? 0
    }
}
