import Messaging
import SQL

// The messages of a conversation that was merged, or that got messages by an import, are sorted by the time of sending
// (X1.3) after the transaction that added them: other writers wait for a few messages and not for all.
extension MessagingStore {
    /// The maximum number of messages that one transaction moves.
    public static let sortedAtOnce = 1024

    /// Sorts the messages of a distinct conversation by the time of sending, if a merge or an import has added some.
    ///
    /// Each transaction moves some of them and records an event, so every state that a reader sees is complete, and a sort
    /// that was interrupted continues when this is called again. A conversation that was never merged is sorted only if an
    /// import set `unsorted_from`; otherwise its positions, which clients know, do not change.
    ///
    /// - Parameters:
    ///   - id: Its own id or an alias.
    ///   - limit: The maximum number of messages that one transaction moves, multiplied by
    ///     1 + (participants + hidden messages) / 256, because each transaction reads those rows once.
    ///   - target: The time that a transaction should take while no other writer waits (``BatchSize``).
    /// - Returns: Whether anything has changed.
    @discardableResult
    func sortMessages(
        of id: Conversation.ID, in application: Application.ID,
        atMost limit: Int = MessagingStore.sortedAtOnce,
        taking target: Duration = .milliseconds(20)
    ) async throws -> Bool {
        var hasChanged = false
        var size = BatchSize(
            min(limit, 256), in: min(limit, 32)...limit, taking: target)
        while true {
            try Task.checkCancellation()
            let planned = try await database.read { transaction in
                try transaction.messageSort(of: id, in: application)
            }
            guard let planned else { return hasChanged }
            var sort = planned.sort
            let factor = 1 + planned.weight / Self.rowsPerBatch
            while let step = try await takeNextStep(
                of: sort, atMost: size.count * factor, in: application)
            {
                hasChanged = true
                if step.isSorted { return true }
                guard !step.rest.isEmpty else { break }
                sort = step.rest
                size.adjust(to: step.time, for: size.count)
                try Task.checkCancellation()
            }
        }
    }

    /// Takes the next step of a sort in a transaction.
    ///
    /// - Returns: As ``MutationContext/take(_:atMost:)``, and the time of the transaction.
    private func takeNextStep(
        of sort: MessageSort, atMost limit: Int, in application: Application.ID
    ) async throws -> (rest: MessageSort, isSorted: Bool, time: TransactionTime)? {
        let (step, time) = try await timedChange(in: application) { context in
            try context.take(sort, atMost: limit)
        }
        return step.map { step in (step.rest, step.isSorted, time) }
    }

    /// The number of participants and hidden messages for which a transaction moves as many messages more.
    private static let rowsPerBatch = 256

    /// Continues the sorts that were interrupted.
    func sortInterrupted() async throws {
        for application in try await applications() {
            let ids = try await database.read { transaction in
                try transaction.rows(
                    """
                    SELECT id FROM conversations
                    WHERE application = \(application.id) AND unsorted_from IS NOT NULL
                    """
                ) { row in try row.id(0) as Conversation.ID }
            }
            for id in ids { try await sortMessages(of: id, in: application.id) }
        }
    }
}

extension Transaction {
    /// Plans the sort of a conversation.
    ///
    /// - Returns: The sort, and the number of rows that each step reads besides the messages; `nil` if there is nothing to
    ///   sort.
    func messageSort(
        of id: Conversation.ID, in application: Application.ID
    ) throws -> (sort: MessageSort, weight: Int)? {
        let found = try first(
            """
            SELECT c.id, c.unsorted_from, c.participant_count + (
                SELECT COUNT(*) FROM hidden_messages h
                WHERE h.application = c.application AND h.conversation = c.id
            ), EXISTS (
                SELECT 1 FROM conversation_aliases a
                WHERE a.application = c.application AND a.conversation = c.id
            )
            FROM conversations c
            WHERE c.application = \(application) AND c.id = COALESCE((
                SELECT conversation FROM conversation_aliases
                WHERE application = \(application) AND alias = \(id)
            ), \(id))
                AND c.is_distinct = 1 AND c.deleted_at IS NULL
            """
        ) { row in
            (
                id: try row.id(0) as Conversation.ID, unsortedFrom: try row.optionalTimestamp(1),
                weight: try row.int(2), isMerged: try row.bool(3)
            )
        }
        guard let found, found.isMerged || found.unsortedFrom != nil else { return nil }
        let sort = try MessageSort(
            of: try entries(after: .start, in: found.id, of: application), in: found.id,
            unsortedFrom: found.unsortedFrom
        ) { positions in
            try first(
                """
                SELECT 1 FROM deleted_messages
                WHERE application = \(application) AND conversation = \(found.id)
                    AND position BETWEEN \(positions.lowerBound) AND \(positions.upperBound)
                LIMIT 1
                """
            ) { _ in true } == nil
        }
        return sort.map { sort in (sort, found.weight) }
    }

    /// The messages after a position, in the order of their positions.
    fileprivate func entries(
        after position: Position, in conversation: Conversation.ID, of application: Application.ID
    ) throws -> [MessageSort.Entry] {
        try rows(
            """
            SELECT id, sent_at, position FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position > \(position)
            ORDER BY position
            """
        ) { row in
            MessageSort.Entry(
                try row.id(0), sentAt: try row.timestamp(1), position: try row.position(2))
        }
    }

    /// Whether the messages of a step are where they were when the sort was planned, or deleted, and their new positions
    /// are free.
    fileprivate func isCurrent(
        _ step: MessageSort.Step, in conversation: Conversation.ID, of application: Application.ID
    ) throws -> Bool {
        var known = Dictionary(
            uniqueKeysWithValues: step.moved.map { entry in (entry.message, entry.position) })
        for chunk in step.moved.powerOfTwoChunks(upTo: 1024) {
            let found = try rows(
                """
                SELECT id, conversation, position FROM messages
                WHERE application = \(application) AND id \(in: chunk.map(\.message))
                """
            ) { row in
                (
                    id: try row.id(0) as Message.ID,
                    isHere: try row.id(1) == conversation, position: try row.position(2)
                )
            }
            for message in found {
                guard message.isHere, known.removeValue(forKey: message.id) == message.position
                else { return false }
            }
        }
        let taken = try first(
            """
            SELECT 1 FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position >= \(step.targets.lowerBound) AND position < \(step.targets.upperBound)
            LIMIT 1
            """
        ) { _ in true }
        return taken == nil
    }
}

extension MutationContext {
    /// Takes the next step of a sort.
    ///
    /// - Returns: The rest of the sort, and whether the messages are in order; `nil` if the sort has to be planned again,
    ///   because something else has moved messages or has added some that are out of order.
    func take(
        _ planned: MessageSort, atMost limit: Int
    ) throws -> (rest: MessageSort, isSorted: Bool)? {
        let id = planned.conversation
        guard let own = try transaction.queryLocked(id, in: application).first(),
            own.isDistinct, own.deletedAt == nil
        else { return nil }
        var sort = planned
        let since = try transaction.entries(after: sort.lastKnown, in: id, of: application)
        guard sort.add(since) else { return nil }
        let step = sort.next(atMost: limit, after: own.lastPosition)
        guard try transaction.isCurrent(step, in: id, of: application) else { return nil }
        let before = try transaction.mergeable(own, with: step.occupied, in: application)
        let after = before.sorted(by: step)
        let views = after.views.filter { user, view in before.views[user] != view }
        try record(
            .conversationMerged(
                ConversationMerged(
                    after, losing: nil, relocations: step.relocations, views: views, at: now)))
        return (sort, step.unsortedFrom == nil)
    }
}
