import Messaging
import SQL

extension Transaction {
    /// The messages of a conversation that pass a filter, before a place, and how many pass in all.
    ///
    /// They are read from the index of positions, piece by piece, and each is judged. The times of the
    /// filter are positions, since times never fall along them (R26): found by halves, in a few reads.
    ///
    /// - Parameters:
    ///   - place: Where the page begins; all count.
    ///   - last: The last position of the list.
    ///   - read: The messages of the list before a place, newest first.
    /// - Throws: `Rejection.tooMany` when more than `MessageFilter.limit` messages had to be judged.
    func messages(
        in conversation: Conversation.ID, matching filter: MessageFilter, before place: Position?,
        limit: Int, upTo last: Position, in application: Application.ID,
        read: (_ before: Position, _ limit: Int) throws -> [Message]
    ) throws -> (messages: [Message], total: Int64) {
        let reader = try filter.unreadBy.flatMap { user in
            try self.reader(user, in: conversation, in: application)
        }
        let low = try filter.sentAfter.map { moment in
            try self.place(of: moment, in: conversation, upTo: last, in: application)
        }
        let high = try filter.sentBefore.map { moment in
            try self.place(
                of: Timestamp(milliseconds: moment.milliseconds - 1), in: conversation,
                upTo: last, in: application)
        }
        var top = (high ?? last).next
        var (found, total, judged): ([Message], Int64, Int) = ([], 0, 0)
        while true {
            let messages = try read(top, Self.piece)
            let reached = messages.prefix { message in message.position > low ?? .start }
            judged += reached.count
            guard judged <= MessageFilter.limit else { throw Rejection.tooMany }
            for message in reached where filter.admits(message, reader: reader) {
                total += 1
                if found.count < limit, message.position < place ?? .last { found.append(message) }
            }
            guard reached.count == Self.piece, let end = reached.last else { return (found, total) }
            top = end.position
        }
    }

    private static var piece: Int { 256 }

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

    /// The last place up to which everything was sent at a moment or before it.
    private func place(
        of moment: Timestamp, in conversation: Conversation.ID, upTo last: Position,
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
