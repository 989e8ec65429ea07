public import Messaging
import SQL

/// What a current or former participant has received and read of a conversation.
public struct ParticipantStatus: Sendable {
    /// The user.
    public let user: UserID
    /// The positions at which the user was a participant.
    public let presence: IntervalSet
    /// The positions that the user has received and read.
    public let receipts: Receipts
}

extension MessagingStore {
    /// The receipts of the participants of a conversation, by ascending user id.
    ///
    /// - Parameters:
    ///   - id: The conversation, by its own id or an alias.
    ///   - positions: Only receipts at these positions.
    ///   - after: The last user of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of participants.
    /// - Returns: The own id of the conversation, and its participants.
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all participants.
    public func receipts(
        of id: Conversation.ID, at positions: IntervalSet, after: UserID?, limit: Int,
        in application: Application.ID
    ) async throws -> (conversation: Conversation.ID, participants: [ParticipantStatus]) {
        try await database.read { transaction in
            let conversation = try transaction.lockedConversationRow(id, in: application)
            let found = try transaction.rows(
                .receipts(of: conversation.id, after: after, limit: limit, in: application)
            ) { row in try PositionedReceipts(row) }
            return (
                conversation.id,
                found.map { entry in
                    let participant = entry.positioned.participant
                    let receipts = entry.receipts ?? Receipts()
                    return ParticipantStatus(
                        user: participant.userID,
                        presence: participant.presence(upTo: conversation.lastPosition)
                            .intersection(positions),
                        receipts: Receipts(
                            delivered: receipts.delivered.intersection(positions),
                            read: receipts.read.intersection(positions)))
                }
            )
        }
    }
}

extension SQL {
    /// The participants of a conversation with their receipts, by ascending user id.
    static func receipts(
        of conversation: Conversation.ID, after: UserID?, limit: Int,
        in application: Application.ID
    ) -> SQL {
        """
        \(PositionedReceipts.sql(in: "\(conversation)", of: application))
            AND p.user_id > \(after?.text ?? "")
        ORDER BY p.user_id LIMIT \(limit)
        """
    }
}
