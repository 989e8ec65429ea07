import Messaging
import SQL

// Events tell where messages stood; merging has moved some since (X1.3).
extension Transaction {
    /// Messages as events tell of them, where they stand now, in two statements whatever their number.
    func standing(
        _ messages: [Message], in application: Application.ID
    ) throws -> [Message] {
        guard !messages.isEmpty else { return [] }
        let places = try rows(
            """
            SELECT id, conversation, position FROM messages
            WHERE application = \(application) AND id IN (\(few: messages.map(\.id.bytes)))
            """
        ) { row in
            (try row.id(0) as Message.ID, (try row.id(1) as Conversation.ID, try row.position(2)))
        }
        let known = Dictionary(places) { first, _ in first }
        // Of one that is deleted only its conversation is left.
        let winners = try winners(of: Set(messages.map(\.conversation)), in: application)
        return messages.map { message in
            let home = winners[message.conversation] ?? message.conversation
            let (conversation, position) = known[message.id] ?? (home, message.position)
            return Message(
                id: message.id, conversation: conversation, position: position,
                sender: message.sender, sentAt: message.sentAt, parts: message.parts,
                updatedAt: message.updatedAt, version: message.version)
        }
    }

    /// Where the messages stand now that stood at some places when an event was recorded.
    ///
    /// - Parameter event: The place of the event in the log.
    func standing(
        _ positions: IntervalSet, of conversation: Conversation.ID, since event: LogPosition,
        in application: Application.ID
    ) throws -> (conversation: Conversation.ID, positions: IntervalSet) {
        // In the words of the index, so that it is read.
        let merges = try rows(
            """
            SELECT kind, payload FROM events
            WHERE application = \(application) AND kind = 'conversation.merged'
                AND position > \(event)
            ORDER BY position
            """
        ) { row in try Event(kind: try row.text(0), payload: try row.blob(1)) }
        var (home, places) = (conversation, positions)
        for case .conversationMerged(let merge) in merges
        where merge.winner == home || merge.loser == home {
            let own = merge.relocations.filter { stretch in stretch.conversation == home }
            (home, places) = (merge.winner, places.relocated(by: own))
        }
        return (home, places)
    }
}
