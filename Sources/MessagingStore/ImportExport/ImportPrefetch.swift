import Messaging
import SQL

/// What is known here of a message to import.
struct StoredMessage {
    /// The conversation of the message with this id; `nil` for none.
    let conversation: Conversation.ID?
    /// Whether it was deleted: its id is a replay key then, so that it is not sent again (rulings 12).
    let isDeleted: Bool
    /// Whether a message has its position.
    let isPositionTaken: Bool

    /// The query for some messages.
    static func sql(of messages: [Message], in application: Application.ID) -> SQL {
        """
        SELECT m.conversation, r.replay_key, p.position, column1, column2, column3
        FROM \(table: "imported", of: [
            .blobs(messages.map(\.id.bytes)), .blobs(messages.map(\.conversation.bytes)),
            .integers(messages.map(\.position.number)),
        ])
        LEFT JOIN messages m ON m.application = \(application) AND m.id = column1
        LEFT JOIN replay_keys r ON r.application = \(application)
            AND r.kind = \(Replay.Kind.message.rawValue) AND r.replay_key = column1
        LEFT JOIN messages p ON p.application = \(application) AND p.conversation = column2
            AND p.position = column3
        """
    }

    init(_ row: borrowing Row) throws {
        conversation = try row.optionalID(0)
        isDeleted = try !row.isNull(1)
        isPositionTaken = try !row.isNull(2)
    }

    static func cacheKey(
        of message: Message.ID, at position: Position, in conversation: Conversation.ID,
        of application: Application.ID
    ) -> RowCacheKey<StoredMessage> {
        RowCacheKey(
            of: [
                .message(message, in: application),
                RowKey(application.bytes + message.bytes, in: "replay_keys"),
                .message(at: position, in: conversation, of: application),
            ], aspect: Array("imported".utf8))
    }
}

// The queries of an import. On a server those of all steps are sent ahead in one round trip.
extension Transaction {
    /// Queries what is known here of a message to import; always one row.
    func queryStored(
        _ message: Message, in application: Application.ID
    ) throws -> DeferredRows<StoredMessage> {
        try query(
            StoredMessage.sql(of: [message], in: application),
            as: StoredMessage.cacheKey(
                of: message.id, at: message.position, in: message.conversation, of: application)
        ) { row in try StoredMessage(row) }
    }

    /// Queries what the steps of an import depend on.
    func prefetch(
        _ steps: [ImportStep], in application: Application.ID,
        hash: @Sendable ([UInt8]) -> [UInt8]
    ) throws {
        var (users, keys): (Set<UserID>, Set<DistinctKey>) = ([], [])
        var conversations: Set<Conversation.ID> = []
        for case .record(let record, _) in steps {
            switch record {
            case .user(let archived): users.insert(archived.user.id)
            case .conversation(let archived):
                conversations.insert(archived.conversation.id)
                // Those of a large conversation are read when they are needed.
                users.formUnion(archived.members.prefix(256).map(\.participant.userID))
                if let key = archived.conversation.distinctKey(hash) { keys.insert(key) }
            case .message(let archived): conversations.insert(archived.message.conversation)
            case .application, .relations, .content, .scheduled, .announcement, .key: break
            }
        }
        _ = try queryLogEnd(in: application)
        for chunk in users.sorted().chunks(of: 256) {
            prefetchIdentities(of: chunk, in: application)
        }
        if !conversations.isEmpty { try prefetch(conversations, in: application) }
        if !keys.isEmpty { try prefetch(keys, in: application) }
        try prefetchStored(steps, in: application)
    }

    /// Queries what is known here of all messages among the steps of an import.
    func prefetchStored(_ steps: [ImportStep], in application: Application.ID) throws {
        let messages = steps.compactMap { step in step.archivedMessage?.message }
        for chunk in messages.powerOfTwoChunks(upTo: 256) {
            try prefetch(StoredMessage.sql(of: chunk, in: application)) { row in
                let key = StoredMessage.cacheKey(
                    of: try row.id(3), at: try row.position(5), in: try row.id(4), of: application)
                return (key, try StoredMessage(row))
            }
        }
    }

    /// Queries the distinct conversations of sets of participants.
    private func prefetch(_ keys: Set<DistinctKey>, in application: Application.ID) throws {
        try prefetch(
            """
            SELECT column1, c.id
            FROM \(table: "imported", of: [.blobs(keys.map(\.digest))])
            LEFT JOIN conversations c
                ON c.application = \(application) AND c.distinct_key = column1
            """
        ) { row in
            (Self.holder(of: try row.blob(0), in: application), try row.optionalID(1))
        }
    }

    /// Queries the rows and aliases of conversations.
    private func prefetch(
        _ conversations: Set<Conversation.ID>, in application: Application.ID
    ) throws {
        let ids: SQL =
            "\(table: "imported", of: [.blobs(conversations.sorted().map(\.bytes))])"
        try prefetch(
            """
            SELECT c.*, column1 FROM \(ids)
            LEFT JOIN (
                SELECT \(raw: Conversation.columns) FROM conversations
                WHERE application = \(application)
            ) AS c ON c.id = column1
            """
        ) { row in
            (
                Conversation.cacheKey(try row.id(12), in: application),
                try row.isNull(0) ? nil : try Conversation(row)
            )
        }
        try prefetch(
            """
            SELECT column1, a.conversation FROM \(ids)
            LEFT JOIN conversation_aliases a
                ON a.application = \(application) AND a.alias = column1
            """
        ) { row in
            (Self.winner(of: try row.id(0), in: application), try row.optionalID(1))
        }
        try prefetch(
            """
            SELECT column1, a.alias FROM \(ids)
            LEFT JOIN conversation_aliases a
                ON a.application = \(application) AND a.conversation = column1
            """
        ) { row in
            (Self.aliases(of: try row.id(0), in: application), try row.optionalID(1))
        }
    }
}
