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
    /// Messages with what they show, in their order; those of a deleted conversation as they were last.
    func lastSnapshots(
        of messages: [Message], in application: Application.ID
    ) throws -> [MessageSnapshot] {
        let deleted = try deletedOnes(of: Set(messages.map(\.conversation)), in: application)
        guard !deleted.isEmpty else { return try snapshots(of: messages, in: application) }
        let found =
            try snapshots(
                of: messages.filter { !deleted.contains($0.conversation) }, in: application)
            + snapshots(
                of: messages.filter { deleted.contains($0.conversation) }, .last, in: application)
        let byID = Dictionary(found.map { ($0.message.id, $0) }) { first, _ in first }
        return messages.compactMap { message in byID[message.id] }
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
            found.participants = Participants(
                try rows(
                    """
                    SELECT user_id FROM last_participants
                    WHERE application = \(application) AND conversation = \(id)
                        AND left_after IS NULL
                    ORDER BY place
                    """
                ) { row in try row.user(0) })
        }
        return found
    }

    /// Messages that were deleted while the log goes back so far, as they were last.
    func deletedMessages(
        _ ids: [Message.ID], in application: Application.ID
    ) throws -> [MessageSnapshot] {
        guard !ids.isEmpty else { return [] }
        let deletions = try rows(
            """
            SELECT event FROM deleted_messages
            WHERE application = \(application) AND id IN (\(few: ids.map(\.bytes)))
            """
        ) { row in try row.int64(0) }
        return try deletedMessages(at: deletions, in: application)
    }

    /// Messages as they were last, from the events that tell of their deletion.
    func deletedMessages(
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

    /// Forgets what was deleted up to a place of the log.
    func forgetDeleted(through last: LogPosition, in application: Application.ID) throws {
        for table in ["deleted_messages", "last_participants", "last_receipts"] as [StaticString] {
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
