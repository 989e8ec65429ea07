import Messaging
import SQL

extension Projection {
    func create(_ created: ConversationCreated) throws {
        let conversation = created.conversation
        keepAbsence(of: conversation.id)
        let key: SQL =
            conversation.isDistinct ? freeKey(of: conversation.participants) : "NULL"
        try transaction.execute(
            """
            INSERT INTO conversations (
                application, id, created_at, is_distinct, distinct_key, is_announced, deleted_at,
                last_position, last_sent_at, message_count, metadata, version
            ) VALUES (
                \(application), \(conversation.id), \(conversation.createdAt),
                \(conversation.isDistinct), \(key), \(conversation.isAnnounced),
                \(conversation.deletedAt), \(conversation.lastPosition),
                \(conversation.lastSentAt), \(conversation.messageCount),
                \(conversation.metadata.columnBytes), \(conversation.version)
            )
            """)
        addToCounts(conversations: 1)
        let users = conversation.participants.users
        for (place, user) in users.enumerated() {
            try enter(
                user, at: place, conversation.id, after: conversation.lastPosition,
                isShown: conversation.isAnnounced)
        }
        try nameInConversation(users, isShown: conversation.isAnnounced)
        try connect(users, among: users, of: conversation.id)
        remember(created.key, as: .conversation, for: conversation.id.bytes)
    }

    /// The key of some participants, unless a conversation of theirs is found by it: one that comes from
    /// elsewhere stays beside that until they are merged (X1).
    func freeKey(of participants: Participants) -> SQL {
        let key = DistinctKey(participants, hash: hash)
        return """
            CASE WHEN EXISTS (
                SELECT 1 FROM conversations
                WHERE application = \(application) AND distinct_key = \(key.digest)
            ) THEN NULL ELSE \(key.digest) END
            """
    }

    func remember(_ match: ConversationMatched) throws {
        remember(match.key, as: .match, for: match.conversation.bytes)
        guard let alias = match.alias else { return }
        try transaction.execute(
            """
            INSERT INTO conversation_aliases (application, alias, conversation)
            VALUES (\(application), \(alias), \(match.conversation))
            ON CONFLICT (application, alias) DO NOTHING
            """)
    }

    func apply(_ change: MetadataChanged) throws {
        let before = try transaction.askLocked(change.conversation, in: application).first()
        if let before { keep(before) }
        let after = (before?.metadata ?? Metadata()).merging(change.writes)
        try transaction.execute(
            """
            UPDATE conversations SET metadata = \(after.columnBytes), version = version + 1
            WHERE application = \(application) AND id = \(change.conversation)
            """)
    }

    /// Frees the participant set, empties the lists, and lets the contents go (R18).
    ///
    /// Messages stay as rows nobody reaches: there may be millions, and the writer serves others.
    func delete(_ id: Conversation.ID, at moment: Timestamp) throws {
        try keepWhole(id)
        addToCounts(conversations: -1)
        let users = try transaction.currentParticipants(of: id, in: application).users
        try disconnect(users, among: users, of: id)
        try transaction.execute(
            """
            UPDATE identities SET conversation_count = conversation_count - 1
            WHERE application = \(application) AND user_id IN (
                SELECT user_id FROM participants
                WHERE application = \(application) AND conversation = \(id)
                    AND state = 'shown'
            )
            """)
        try transaction.execute(
            "DELETE FROM participants WHERE application = \(application) AND conversation = \(id)")
        try transaction.execute(
            "DELETE FROM receipts WHERE application = \(application) AND conversation = \(id)")
        try dropContents(of: id)
        try transaction.execute(
            """
            UPDATE conversations SET deleted_at = \(moment), distinct_key = NULL
            WHERE application = \(application) AND id = \(id)
            """)
    }
}
