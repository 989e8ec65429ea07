import Messaging
import SQL

extension Transaction {
    /// One conversation with what a user sees of it.
    ///
    /// - Throws: `notFound(.conversation)` for a stranger.
    func snapshot(
        of conversation: Conversation.ID, seenBy user: UserID, in application: Application.ID
    ) throws -> ConversationView {
        guard let row = try view(of: conversation, for: user, in: application),
            let view = try views([row], seenBy: user, in: application).first
        else { throw Rejection.notFound(.conversation) }
        return view
    }

    /// Rows of a list with what they show, in a constant number of statements.
    func views(
        _ rows: [ViewRow], seenBy user: UserID, in application: Application.ID
    ) throws -> [ConversationView] {
        guard !rows.isEmpty else { return [] }
        let participants = try participants(
            of: rows.filter { row in !row.isFormer }.map(\.id), in: application)
        let identities = try identities(
            of: Set(participants.values.flatMap(\.users)), in: application)
        let messages = try messages(rows.compactMap(\.lastMessage), in: application)
        let snapshots = try snapshots(
            of: Array(messages.values), seenBy: user, in: application)
        let lastMessages = Dictionary(grouping: snapshots, by: \.message.id)
            .compactMapValues(\.first)
        return rows.map { row in
            ConversationView(
                id: row.id, createdAt: row.createdAt,
                participants: (participants[row.id]?.users ?? []).map(identities.identity),
                isDistinct: row.isDistinct, metadata: row.metadata.view,
                lastMessage: row.lastMessage.flatMap { id in lastMessages[id] },
                unreadCount: row.unreadCount, totalCount: row.totalCount, isFormer: row.isFormer,
                version: row.version)
        }
    }

    /// The current participants of several conversations, each in the order of naming.
    func participants(
        of conversations: [Conversation.ID], in application: Application.ID
    ) throws -> [Conversation.ID: Participants] {
        let found = try rows(
            """
            SELECT conversation, user_id FROM participants
            WHERE application = \(application)
                AND conversation IN (\(few: conversations.map(\.bytes))) AND left_after IS NULL
            ORDER BY place
            """
        ) { row in (conversation: try row.id(0) as Conversation.ID, user: try row.user(1)) }
        return Dictionary(grouping: found, by: \.conversation)
            .mapValues { members in Participants(members.map(\.user)) }
    }
}
