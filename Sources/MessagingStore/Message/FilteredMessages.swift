import Messaging
import SQL

extension Transaction {
    /// The messages of a conversation that pass a filter, before a position, and the number of all that pass, unless no
    /// number is wanted; see ``filtered(from:after:limit:isCounted:read:passes:cursor:)``.
    ///
    /// Messages are read in the order of positions, 256 at a time, and each is checked. The time bounds of the filter
    /// are converted to positions by binary search, because times never decrease with positions (R26).
    ///
    /// - Parameters:
    ///   - position: Only earlier messages are returned; all are counted. `nil` for no bound.
    ///   - last: The last position of the list.
    ///   - read: Reads the messages of the list before a position, newest first, as many as fit.
    /// - Returns: The messages that pass, as many as fit into one response, and the number of all that pass.
    /// - Throws: `Rejection.tooMany` when more than `MessageFilter.limit` messages had to be checked.
    func messages(
        in conversation: Conversation.ID, matching filter: MessageFilter,
        before position: Position?,
        limit: Int, isCounted: Bool, upTo last: Position, in application: Application.ID,
        read: (_ before: Position, _ limit: Int) throws -> BoundedPage<Message>
    ) throws -> FilteredPage<Message> {
        let reader = try filter.unreadBy.flatMap { user in
            try self.reader(user, in: conversation, in: application)
        }
        let low = try filter.sentAfter.map { moment in
            try self.lastPosition(sentUntil: moment, in: conversation, upTo: last, in: application)
        }
        let high = try filter.sentBefore.map { moment in
            try self.lastPosition(
                sentUntil: Timestamp(milliseconds: moment.milliseconds - 1), in: conversation,
                upTo: last, in: application)
        }
        let bounds = SearchBounds(atMost: MessageFilter.limit)
        var top = (high ?? last).next
        if !isCounted, let position { top = min(top, position) }
        var (found, budget) = (FilteredPage<Message>(), ResponseBudget())
        var (total, checked) = (Int64(0), 0)
        while true {
            let chunk = try read(top, Self.chunkSize)
            let reached = chunk.items.prefix { message in message.position > low ?? .start }
            checked += reached.count
            guard checked <= MessageFilter.limit else { throw Rejection.tooMany }
            let gone = try filter.unreadBy.map { user in
                try hiddenPositions(by: user, in: conversation, among: reached, in: application)
            }
            for message in reached where filter.admits(message, reader: reader) {
                if gone?.contains(message.position) == true { continue }
                total += 1
                guard found.page.items.count < limit, message.position < position ?? .last else {
                    continue
                }
                found.page.isCut = found.page.isCut || !budget.admits(message.weight)
                if !found.page.isCut { found.page.items.append(message) }
            }
            guard
                reached.count == Self.chunkSize
                    || chunk.isCut && reached.count == chunk.items.count,
                let end = reached.last
            else { break }
            if !isCounted {
                guard found.page.items.count < limit, !found.page.isCut else { break }
                guard bounds.admit(Self.chunkSize, after: checked) else {
                    found.searchedTo = end
                    break
                }
            }
            top = end.position
        }
        if isCounted { found.total = total }
        return found
    }

    /// The number of messages read at once.
    private static var chunkSize: Int { 256 }

    /// The positions of those messages that are hidden from a user: deleted by the user, or hidden by a block (R29,
    /// R32). They do not count as unread.
    ///
    /// - Parameter messages: Newest first.
    private func hiddenPositions(
        by user: UserID, in conversation: Conversation.ID, among messages: ArraySlice<Message>,
        in application: Application.ID
    ) throws -> Set<Position> {
        guard let newest = messages.first, let oldest = messages.last else { return [] }
        return Set(
            try rows(
                """
                SELECT position FROM hidden_messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND user_id = \(user) AND position >= \(oldest.position)
                    AND position <= \(newest.position)
                """
            ) { row in try row.position(0) })
    }

    private func reader(
        _ user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> MessageFilter.Reader? {
        try participant(user, in: conversation, in: application).map { participant in
            MessageFilter.Reader(
                participant,
                try receipts(
                    of: ReceiptOwner(conversation: conversation, user: user), in: application))
        }
    }

    /// The last position up to which all messages were sent at or before a moment.
    private func lastPosition(
        sentUntil moment: Timestamp, in conversation: Conversation.ID, upTo last: Position,
        in application: Application.ID
    ) throws -> Position {
        var (low, high) = (Position.start.number, last.number + 1)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            let sentAt = try first(
                """
                SELECT sent_at FROM messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND position <= \(middle)
                ORDER BY position DESC LIMIT 1
                """
            ) { row in try row.timestamp(0) }
            if sentAt.map({ sentAt in sentAt <= moment }) ?? true {
                low = middle
            } else {
                high = middle
            }
        }
        return Position(low)
    }
}
