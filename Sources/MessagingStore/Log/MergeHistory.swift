import Messaging
import SQL

/// Converts the positions of messages between the times before and after later merges (X1.3).
///
/// Positions are converted merge by merge, because a message that was deleted between two merges is stored with the
/// position that it had then.
struct MergeHistory {
    private let transaction: Transaction
    private let application: Application.ID
    /// No event before this position is requested.
    private let first: LogPosition
    /// The merges after `first`, ascending; `nil` before they are read.
    private var merges: [(position: LogPosition, merge: ConversationMerged)]?

    init(_ transaction: Transaction, from first: LogPosition, in application: Application.ID) {
        self.transaction = transaction
        self.application = application
        self.first = first
    }

    /// The merges after a position, ascending.
    private mutating func merges(
        after position: LogPosition
    ) throws -> ArraySlice<(position: LogPosition, merge: ConversationMerged)> {
        if merges == nil { merges = try transaction.merges(after: first, in: application) }
        return (merges ?? []).drop { merged, _ in merged <= position }
    }

    /// A message with the conversation and the position that it had right after an event.
    ///
    /// - Parameters:
    ///   - message: The message with a later position.
    ///   - end: The event until which the message had that position; `nil` if it still has it.
    ///   - position: The earlier event.
    mutating func movedBack(
        _ message: Message, from end: LogPosition?, to position: LogPosition
    ) throws -> Message {
        var message = message
        for (merged, merge) in try merges(after: position).reversed()
        where merged < end ?? LogPosition(.max) && merge.winner == message.conversation {
            let relocation = merge.relocations.first { relocation in
                relocation.to <= message.position
                    && message.position.number <= relocation.through.number + relocation.shift
            }
            guard let relocation else { continue }
            message.conversation = relocation.conversation
            message.position = Position(message.position.number - relocation.shift)
        }
        return message
    }

    /// Statements that select the ids and positions of the messages that were at given positions of a
    /// conversation right after an event, each message once.
    ///
    /// The positions are converted by each later merge, and messages that were deleted between two merges are looked up
    /// at the positions of that time.
    ///
    /// - Parameters:
    ///   - user: A user whose own messages are left out; `nil` for none.
    ///   - position: The event.
    mutating func selects(
        at positions: IntervalSet, in conversation: Conversation.ID, notBy user: UserID?,
        at position: LogPosition
    ) throws -> [SQL] {
        var selects: [SQL] = []
        // In the statements, an empty user id leaves out no message, because no user has it.
        var (conversation, positions, since) = (conversation, positions, position)
        for (merged, merge) in try merges(after: position)
        where merge.winner == conversation || merge.loser == conversation {
            selects += positions.intervals.map { interval in
                deleted(
                    in: conversation, interval, notBy: user, after: since, before: merged,
                    at: position)
            }
            let own = merge.relocations.filter { relocation in
                relocation.conversation == conversation
            }
            (conversation, positions, since) = (merge.winner, positions.relocated(by: own), merged)
        }
        return selects
            + positions.intervals.map { interval in
                """
                SELECT id, position FROM messages
                WHERE application = \(application) AND conversation = \(conversation)
                    AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND event <= \(position)
                    AND (sender_user IS NULL OR sender_user <> \(user?.text ?? ""))
                UNION ALL
                \(deleted(
                    in: conversation, interval, notBy: user, after: since, before: nil, at: position))
                """
            }
    }

    /// Selects the messages at positions of a conversation that were deleted between two events and were sent at or
    /// before a third one.
    private func deleted(
        in conversation: Conversation.ID, _ interval: ClosedRange<Int64>, notBy user: UserID?,
        after start: LogPosition, before end: LogPosition?, at position: LogPosition
    ) -> SQL {
        """
        SELECT id, position FROM deleted_messages
        WHERE application = \(application) AND conversation = \(conversation)
            AND position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
            AND event > \(start) AND event < \(end ?? LogPosition(.max))
            AND sent <= \(position)
            AND (sender_user IS NULL OR sender_user <> \(user?.text ?? ""))
        """
    }
}

extension Transaction {
    /// Whether a merge, or a step that sorts its messages, has moved messages of a conversation after a position.
    func hasMerged(
        _ conversation: Conversation.ID, after position: LogPosition, in application: Application.ID
    ) throws -> Bool {
        try merges(after: position, in: application).contains { _, merge in
            merge.winner == conversation
        }
    }

    /// The merges in a log after a position, ascending.
    fileprivate func merges(
        after position: LogPosition, in application: Application.ID
    ) throws -> [(position: LogPosition, merge: ConversationMerged)] {
        // The condition on `kind` is that of the index `events_merged`, so that the index is used.
        try rows(
            """
            SELECT kind, payload, position FROM events
            WHERE application = \(application) AND kind = 'conversation.merged'
                AND position > \(position)
            ORDER BY position
            """
        ) { row in
            guard
                case .conversationMerged(let merge) = try Event(
                    type: try row.text(0), encoded: try row.blob(1))
            else { throw StoreFault.unreadable("merge in the log") }
            return (LogPosition(try row.int64(2)), merge)
        }
    }
}
