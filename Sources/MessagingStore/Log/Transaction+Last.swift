import Messaging
import SQL

/// As what a conversation is looked up.
enum Age {
    /// As it is.
    case now
    /// As it was last before its deletion, while the log is kept.
    case last

    var participants: StaticString {
        switch self {
        case .now: "participants"
        case .last: "last_participants"
        }
    }

    var receipts: StaticString {
        switch self {
        case .now: "receipts"
        case .last: "last_receipts"
        }
    }
}

// The log is read late, perhaps: what an event tells of may have been deleted since, and is then told of as it
// was last. Nothing that happened goes untold for that.
extension Transaction {
    /// Messages with what they show, those of a deleted conversation as they were last.
    ///
    /// - Parameter deletions: The places in the log of further messages' deletions; of one that is among the
    ///   others, too, it is the deletion that tells.
    func lastSnapshots(
        of messages: [Message], deletedAt deletions: [Int64], in application: Application.ID
    ) throws -> [Message.ID: MessageSnapshot] {
        let deleted = try deletedOnes(of: Set(messages.map(\.conversation)), in: application)
        let found =
            try deletedMessages(at: deletions, in: application)
            + snapshots(
                of: messages.filter { !deleted.contains($0.conversation) }, in: application)
            + snapshots(
                of: messages.filter { deleted.contains($0.conversation) }, .last, in: application)
        return Dictionary(found.map { ($0.message.id, $0) }) { first, _ in first }
    }

    private func deletedOnes(
        of conversations: Set<Conversation.ID>, in application: Application.ID
    ) throws -> Set<Conversation.ID> {
        guard !conversations.isEmpty else { return [] }
        return Set(
            try rows(
                """
                SELECT id FROM conversations
                WHERE application = \(application) AND deleted_at IS NOT NULL
                    AND id IN (\(few: conversations.map(\.bytes)))
                """
            ) { row in try row.id(0) })
    }

    /// A conversation by its own id; a deleted one with those who took part last.
    func lastConversation(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Conversation? {
        guard var found = try storedConversation(id, in: application) else { return nil }
        if found.deletedAt != nil {
            found.participants = try currentParticipants(of: id, .last, in: application)
        }
        return found
    }

    /// The places in the log of messages' deletions, as far as it goes back.
    func deletions(
        of ids: [Message.ID], in application: Application.ID
    ) throws -> [Int64] {
        guard !ids.isEmpty else { return [] }
        return try rows(
            """
            SELECT event FROM deleted_messages
            WHERE application = \(application) AND id IN (\(few: ids.map(\.bytes)))
            """
        ) { row in try row.int64(0) }
    }

    /// Messages as they were last, from the events that tell of their deletion.
    private func deletedMessages(
        at deletions: [Int64], in application: Application.ID
    ) throws -> [MessageSnapshot] {
        guard !deletions.isEmpty else { return [] }
        let events = try rows(
            """
            SELECT kind, payload FROM events
            WHERE application = \(application) AND position IN (\(few: deletions))
            """
        ) { row in try Event(kind: try row.text(0), payload: try row.blob(1)) }
        let removed = events.compactMap { event in
            if case .messageRemoved(let removed) = event { removed } else { nil }
        }
        let messages = try standing(removed.map(\.message), in: application)
        let senders = try identities(
            of: Set(messages.compactMap(\.sender.userID)), in: application)
        return zip(removed, messages).map { removed, message in
            MessageSnapshot(removed, standing: message, senders)
        }
    }

    /// Where it is kept what was deleted.
    static let deletedTables: [StaticString] = [
        "deleted_messages", "last_participants", "last_receipts",
    ]

    /// Forgets what was deleted up to a place of the log.
    func forgetDeleted(through last: LogPosition, in application: Application.ID) throws {
        for table in Self.deletedTables {
            try execute(
                """
                DELETE FROM \(raw: table)
                WHERE application = \(application) AND event <= \(last)
                """)
        }
    }
}

extension MessageSnapshot {
    /// A message as it was before its deletion.
    ///
    /// - Parameter message: The same where it stands now.
    init(
        _ removed: MessageRemoved, standing message: Message,
        _ senders: [UserID: BasicIdentity]
    ) {
        self.init(
            message: message, sender: message.sender.userID.map(senders.identity),
            recipients: removed.recipients.map { recipient in
                Recipient(userID: recipient.user, status: recipient.status)
            }, isUnread: nil, receivedAt: nil)
    }
}
