import Messaging
import SQL

/// What is known here of messages to import.
struct KnownMessages {
    private struct Place: Hashable {
        let conversation: Conversation.ID
        let position: Position
    }

    /// The conversations of existing messages.
    private var conversations: [Message.ID: Conversation.ID] = [:]
    /// Messages that were deleted: their ids are replay keys then, so that they are not sent again (ruling 12).
    private var deleted: Set<Message.ID> = []
    /// The positions of existing messages.
    private var taken: Set<Place> = []

    /// Queries what is known of all messages among steps.
    init(
        of steps: some Sequence<ImportStep>, on transaction: Transaction,
        in application: Application.ID
    ) throws {
        let messages = steps.compactMap { step in step.archivedMessage?.message }
        // On a server all are sent before the first is answered.
        let queries = try messages.powerOfTwoChunks(upTo: 256).map { chunk in
            try transaction.query(Self.sql(of: chunk, in: application)) { row in
                (
                    id: try row.id(0) as Message.ID,
                    place: try Place(conversation: row.id(1), position: row.position(2)),
                    owner: try row.optionalID(3) as Conversation.ID?,
                    isDeleted: try !row.isNull(4), isTaken: try !row.isNull(5)
                )
            }
        }
        for query in queries {
            for row in try query.rows() {
                if let owner = row.owner { conversations[row.id] = owner }
                if row.isDeleted { deleted.insert(row.id) }
                if row.isTaken { taken.insert(row.place) }
            }
        }
    }

    /// The query for some messages: a row for each of which anything is known.
    private static func sql(of messages: [Message], in application: Application.ID) -> SQL {
        """
        SELECT column1, column2, column3, m.conversation, r.replay_key, p.position
        FROM \(table: "imported", of: [
            .blobs(messages.map(\.id.bytes)), .blobs(messages.map(\.conversation.bytes)),
            .integers(messages.map(\.position.number)),
        ])
        LEFT JOIN messages m ON m.application = \(application) AND m.id = column1
        LEFT JOIN replay_keys r ON r.application = \(application)
            AND r.kind = \(Replay.Kind.message.rawValue) AND r.replay_key = column1
        LEFT JOIN messages p ON p.application = \(application) AND p.conversation = column2
            AND p.position = column3
        WHERE m.id IS NOT NULL OR r.replay_key IS NOT NULL OR p.id IS NOT NULL
        """
    }

    /// The conversation of a message; `nil` if there is no message with this id.
    func conversation(of message: Message.ID) -> Conversation.ID? { conversations[message] }

    func isDeleted(_ message: Message.ID) -> Bool { deleted.contains(message) }

    /// Whether a message has this position.
    func isTaken(_ position: Position, in conversation: Conversation.ID) -> Bool {
        taken.contains(Place(conversation: conversation, position: position))
    }

    /// Notes a message that is imported.
    mutating func insert(_ message: Message) {
        conversations[message.id] = message.conversation
        taken.insert(Place(conversation: message.conversation, position: message.position))
    }
}

// The queries of an import. On a server those of all steps are sent ahead in one round trip.
extension Transaction {
    /// Queries what the steps of an import depend on.
    func prefetch(
        _ steps: [ImportStep], in application: Application.ID,
        hash: @Sendable ([UInt8]) -> [UInt8]
    ) throws {
        var (users, keys): (Set<UserID>, Set<DistinctKey>) = ([], [])
        var conversations: Set<Conversation.ID> = []
        for case .prepared(let prepared, _) in steps {
            switch prepared.record {
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
