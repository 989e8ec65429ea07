import Messaging
import SQL

/// Where a participant stands in the order of naming.
struct PlacedParticipant {
    let conversation: Conversation.ID
    let place: Int64
    let participant: Participant
}

extension Transaction {
    /// Who takes part now, in the order of naming.
    func currentParticipants(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> Participants {
        Participants(try askCurrentParticipants(of: conversation, in: application).rows())
    }

    /// The same, asked ahead.
    func askCurrentParticipants(
        of conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<UserID> {
        try ask(
            """
            SELECT user_id FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND left_after IS NULL
            ORDER BY place
            """
        ) { row in try row.user(0) }
    }

    /// One user's part in a conversation; `nil` for a stranger.
    func participant(
        _ user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> Participant? {
        try askParticipant(user, in: conversation, in: application).first()
    }

    /// The same, asked ahead.
    func askParticipant(
        _ user: UserID, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Participant> {
        try ask(
            """
            SELECT \(raw: Participant.columns) FROM participants
            WHERE application = \(application) AND conversation = \(conversation)
                AND user_id = \(user)
            """,
            as: RowCacheKey(
                of: application.bytes + conversation.bytes, in: "participants",
                aspect: Array("part \(user.text)".utf8))
        ) { row in try Participant(row) }
    }

    /// Who takes or took part in conversations, leaving out whom no message from a place on reached.
    func participants(
        of conversations: [Conversation.ID], reachedFrom place: Position,
        in application: Application.ID
    ) throws -> [PlacedParticipant] {
        try rows(
            """
            SELECT \(raw: Participant.columns), conversation, place FROM participants
            WHERE application = \(application)
                AND conversation IN (\(few: conversations.map(\.bytes)))
                AND (left_after IS NULL OR left_after >= \(place))
            """
        ) { row in
            PlacedParticipant(
                conversation: try row.id(6), place: try row.int64(7),
                participant: try Participant(row))
        }
    }
}

extension Participant {
    /// What ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        "user_id, past, joined_after, left_after, state, cleared_to"

    init(_ row: borrowing Row) throws {
        self.init(
            userID: try row.user(0), past: try row.intervals(1), joinedAfter: try row.position(2),
            leftAfter: try row.optionalPosition(3), state: try row.viewState(4),
            clearedTo: try row.position(5))
    }
}
