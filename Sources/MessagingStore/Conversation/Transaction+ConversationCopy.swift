import Messaging
import SQL

extension Transaction {
    /// A distinct conversation with all that merging looks at (X1).
    ///
    /// No user has joined or left it since it was made; otherwise it would not be distinct (R5).
    func copy(
        of conversation: Conversation, in application: Application.ID
    ) throws -> ConversationCopy {
        ConversationCopy(
            id: conversation.id, createdAt: conversation.createdAt,
            aliases: try aliases(of: conversation.id, in: application),
            metadata: conversation.metadata, isAnnounced: conversation.isAnnounced,
            lastPosition: conversation.lastPosition,
            places: try places(in: conversation.id, in: application),
            views: try viewCopies(of: conversation, in: application))
    }

    /// The ids that lead to a conversation.
    func aliases(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> Set<Conversation.ID> {
        Set(
            try rows(
                """
                SELECT alias FROM conversation_aliases
                WHERE application = \(application) AND conversation = \(conversation)
                """
            ) { row in try row.id(0) as Conversation.ID })
    }

    private func places(
        in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [ConversationCopy.Place] {
        try rows(
            """
            SELECT id, sent_at, position FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
            ORDER BY position
            """
        ) { row in
            ConversationCopy.Place(
                try row.id(0), sentAt: try row.timestamp(1), position: try row.position(2))
        }
    }

    private func viewCopies(
        of conversation: Conversation, in application: Application.ID
    ) throws -> [UserID: ViewCopy] {
        let participants = try participants(
            of: [conversation.id], reachedFrom: .start, in: application
        ).map(\.participant)
        let receipts = try receipts(in: [conversation.id], in: application)
        let hidden = try hidden(in: conversation.id, in: application)
        return Dictionary(
            uniqueKeysWithValues: participants.map { participant in
                let user = participant.userID
                let owner = ReceiptOwner(conversation: conversation.id, user: user)
                let view = ViewCopy(
                    state: participant.state, clearedTo: participant.clearedTo,
                    hidden: IntervalSet(hidden[user] ?? []),
                    receipts: receipts[owner] ?? Receipts())
                return (user, view)
            })
    }

    /// The positions each participant does not see, one by one.
    func hidden(
        in conversation: Conversation.ID, in application: Application.ID
    ) throws -> [UserID: [ClosedRange<Int64>]] {
        let found = try rows(
            """
            SELECT user_id, position FROM hidden_messages
            WHERE application = \(application) AND conversation = \(conversation)
            """
        ) { row in (user: try row.user(0), position: try row.int64(1)) }
        return Dictionary(grouping: found, by: \.user)
            .mapValues { entries in entries.map { entry in entry.position...entry.position } }
    }
}
