public import Messaging
import SQL

extension MessagingStore {
    /// A conversation as the system sees it.
    ///
    /// - Parameter id: Its own id or an alias; the result has its own id.
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all participants.
    public func conversation(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await database.read { transaction in
            try transaction.snapshot(
                of: try transaction.conversation(id, in: application), in: application)
        }
    }

    /// Checks that a conversation exists and is live, so that content can be added.
    ///
    /// - Returns: Its own id, also when an alias was given.
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all participants.
    @discardableResult
    public func requireWritable(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await database.read { transaction in
            try transaction.liveConversationID(id, in: application)
        }
    }

    /// All ids of a live conversation: first its own, then its aliases (X1.2).
    ///
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all participants.
    public func names(
        of id: Conversation.ID, in application: Application.ID
    ) async throws -> [Conversation.ID] {
        try await database.read { transaction in
            let own = try transaction.liveConversationID(id, in: application)
            return [own] + (try transaction.aliases(of: own, in: application)).sorted()
        }
    }

    /// The other ids of a live conversation, with the event that made each an alias, in the order of these events.
    ///
    /// - Throws: `Rejection.notFound`, or `objectDeleted` after its deletion for all participants.
    public func aliases(
        of id: Conversation.ID, in application: Application.ID
    ) async throws -> (conversation: Conversation.ID, aliases: [ConversationAlias]) {
        try await database.read { transaction in
            let own = try transaction.liveConversationID(id, in: application)
            let aliases = try transaction.rows(.aliases(of: own, in: application)) { row in
                ConversationAlias(
                    id: try row.id(0), mergedAt: try row.timestamp(1),
                    position: LogPosition(try row.int64(2)))
            }
            return (own, aliases.sorted { left, right in left.position < right.position })
        }
    }
}

extension SQL {
    /// The aliases of a conversation, with the time and the position of the events that made them.
    static func aliases(of conversation: Conversation.ID, in application: Application.ID) -> SQL {
        """
        SELECT alias, merged_at, event FROM conversation_aliases
        WHERE application = \(application) AND conversation = \(conversation)
        """
    }
}

/// Another id of a conversation (X1.2).
public struct ConversationAlias: Sendable {
    /// The id.
    public let id: Conversation.ID
    /// When it became an alias.
    public let mergedAt: Timestamp
    /// The position of the event that made it one.
    public let position: LogPosition
}

extension Transaction {
    /// A conversation with the identities it shows.
    func snapshot(
        of conversation: Conversation, in application: Application.ID
    ) throws -> ConversationSnapshot {
        let users = ConversationSnapshot.shown(
            conversation.participants, isWide: conversation.isWide)
        let identities = try prefetchedIdentities(of: Set(users), in: application)
        return ConversationSnapshot(
            conversation: conversation, participants: users.map(identities.identity))
    }
}

extension Transaction {
    /// A conversation by its id or an alias (X1.2).
    ///
    /// - Throws: `notFound`; `objectDeleted` after its deletion for all participants.
    func conversation(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Conversation {
        let own = try storedConversation(id, in: application)
        let winner = own == nil ? try winner(of: id, in: application) : nil
        let found = try own ?? winner.flatMap { id in try storedConversation(id, in: application) }
        guard let found else { throw Rejection.notFound(.conversation) }
        guard found.deletedAt == nil else { throw Rejection.objectDeleted }
        return found
    }

    /// A conversation by its id or an alias, whose row is locked until the transaction ends.
    ///
    /// - Throws: `notFound`; `objectDeleted` after its deletion for all participants.
    func lockedConversation(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Conversation {
        try withParticipants(
            try lockedConversationRow(id, in: application), in: application)
    }

    /// The same without participants: ``Conversation/participants`` is empty.
    func lockedConversationRow(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Conversation {
        let own = try queryLocked(id, in: application).first()
        let winner = own == nil ? try winner(of: id, in: application) : nil
        let found = try own ?? winner.flatMap { id in try queryLocked(id, in: application).first() }
        guard let found else { throw Rejection.notFound(.conversation) }
        guard found.deletedAt == nil else { throw Rejection.objectDeleted }
        return found
    }

    /// The own id of a live conversation.
    ///
    /// - Throws: `notFound`; `objectDeleted` after its deletion for all participants.
    func liveConversationID(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Conversation.ID {
        switch try isDeleted(id, in: application) {
        case false?: return id
        case true?: throw Rejection.objectDeleted
        case nil: return try conversation(id, in: application).id
        }
    }

    /// Whether a conversation is deleted; `nil` when the id is unknown or an alias.
    func isDeleted(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Bool? {
        if let read = try cached(Conversation.cacheKey(id, in: application)) {
            return read.deletedAt != nil
        }
        return try first(
            "SELECT deleted_at FROM conversations WHERE application = \(application) AND id = \(id)"
        ) { row in try row.optionalInt64(0) != nil }
    }

    /// The conversation that an alias refers to; `nil` when the id is no alias.
    func winner(
        of alias: Conversation.ID, in application: Application.ID
    ) throws -> Conversation.ID? {
        try queryWinner(of: alias, in: application).first()
    }

    /// Queries the conversation that an alias refers to; no row when the id is no alias.
    func queryWinner(
        of alias: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Conversation.ID> {
        try query(
            """
            SELECT conversation FROM conversation_aliases
            WHERE application = \(application) AND alias = \(alias)
            """,
            as: Self.winner(of: alias, in: application)
        ) { row in try row.id(0) }
    }

    /// The cache key of the conversation that an alias refers to.
    static func winner(
        of alias: Conversation.ID, in application: Application.ID
    ) -> RowCacheKey<Conversation.ID> {
        RowCacheKey(of: [.conversation(alias, in: application, "conversation_aliases")])
    }

    /// The conversations that the aliases among these ids refer to, by alias, in one statement.
    func winners(
        of ids: Set<Conversation.ID>, in application: Application.ID
    ) throws -> [Conversation.ID: Conversation.ID] {
        guard !ids.isEmpty else { return [:] }
        let found = try rows(
            """
            SELECT alias, conversation FROM conversation_aliases
            WHERE application = \(application) AND alias \(in: ids)
            """
        ) { row in (try row.id(0) as Conversation.ID, try row.id(1) as Conversation.ID) }
        return Dictionary(found) { first, _ in first }
    }

    /// The live distinct conversation of a set of participants, whose row is locked until the transaction ends.
    func distinctConversation(
        of key: DistinctKey, in application: Application.ID
    ) throws -> Conversation? {
        guard let id = try queryDistinctConversation(of: key, in: application).first() else {
            return nil
        }
        let found = try queryLocked(id, in: application).first()
        return try found.map { found in try withParticipants(found, in: application) }
    }

    /// Queries the id of the live distinct conversation of a set of participants.
    func queryDistinctConversation(
        of key: DistinctKey, in application: Application.ID
    ) throws -> DeferredRows<Conversation.ID> {
        try query(
            "SELECT id FROM conversations WHERE application = \(application) AND distinct_key = \(key.digest)",
            as: Self.holder(of: key.digest, in: application)
        ) { row in try row.id(0) }
    }

    /// Queries the same ahead.
    func prefetchDistinctConversation(of key: DistinctKey, in application: Application.ID) {
        prefetch(key.digest, by: CommitGroup("distinct", in: application.bytes)) {
            transaction, digests in
            try transaction.prefetch(
                """
                SELECT named.column1, c.id FROM \(table: "named", of: [.blobs(digests)])
                LEFT JOIN conversations c ON c.application = \(application)
                    AND c.distinct_key = named.column1
                """
            ) { row in
                (Self.holder(of: try row.blob(0), in: application), try row.optionalID(1))
            }
        }
    }

    /// The cache key of the distinct conversation that has a key.
    static func holder(
        of digest: [UInt8], in application: Application.ID
    ) -> RowCacheKey<Conversation.ID> {
        RowCacheKey(of: [.distinctConversation(of: digest, in: application)])
    }

    /// A conversation by its own id, deleted or not, with the participants that it shows.
    func storedConversation(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> Conversation? {
        let found = try query(
            """
            SELECT \(raw: Conversation.columns) FROM conversations
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in try Conversation(row) }
        let users = try queryShownParticipants(of: id, in: application)
        guard var conversation = try found.first() else { return nil }
        conversation.participants = Participants(try users.rows())
        return conversation
    }

    /// Queries a conversation by its own id, deleted or not, without its participants, and locks the row until
    /// the transaction ends.
    func queryLocked(
        _ id: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Conversation> {
        try query(
            """
            SELECT \(raw: Conversation.columns) FROM conversations
            WHERE application = \(application) AND id = \(id)
            \(.untilCommit)
            """, as: Conversation.cacheKey(id, in: application)
        ) { row in try Conversation(row) }
    }

    /// Queries conversations ahead, for ``queryLocked(_:in:)``.
    func prefetchLocked(_ id: Conversation.ID, in application: Application.ID) {
        prefetch(id, by: CommitGroup("conversations", in: application.bytes)) {
            transaction, ids in
            try transaction.prefetchLocked("\(in: ids)", in: application)
        }
    }

    /// - Parameter ids: The condition that an id is one of theirs, without its left side.
    func prefetchLocked(_ ids: SQL, in application: Application.ID) throws {
        try prefetch(
            """
            SELECT \(raw: Conversation.columns) FROM conversations
            WHERE application = \(application) AND id \(ids)
            \(.untilCommit)
            """
        ) { row in
            let conversation = try Conversation(row)
            return (Conversation.cacheKey(conversation.id, in: application), conversation)
        }
    }

    /// A conversation with the participants that sending a message depends on: of a wide one, only the sender.
    func withParticipants(
        _ conversation: Conversation, toSendFrom sender: Sender, in application: Application.ID
    ) throws -> Conversation {
        guard conversation.isWide else {
            return try withParticipants(conversation, in: application)
        }
        var conversation = conversation
        let participant = try sender.userID.flatMap { user in
            try self.participant(user, in: conversation.id, in: application)
        }
        if let participant, !participant.isFormer {
            conversation.participants = Participants([participant.userID])
        }
        return conversation
    }

    /// A conversation to be patched, locked until the transaction ends.
    func lockedConversation(
        _ id: Conversation.ID, toApply patches: [ConversationPatch], in application: Application.ID
    ) throws -> Conversation {
        try withParticipants(
            try lockedConversationRow(id, in: application), toApply: patches, in: application)
    }

    /// A conversation with the participants that patches depend on: only what it shows if they change none.
    func withParticipants(
        _ conversation: Conversation, toApply patches: [ConversationPatch],
        in application: Application.ID
    ) throws -> Conversation {
        guard !patches.contains(where: \.isOfParticipants) else {
            return try withParticipants(conversation, in: application)
        }
        var conversation = conversation
        conversation.participants = Participants(
            try queryShownParticipants(of: conversation.id, in: application).rows())
        return conversation
    }

    /// A conversation with all its current participants.
    func withParticipants(
        _ conversation: Conversation, in application: Application.ID
    ) throws -> Conversation {
        var conversation = conversation
        conversation.participants = try currentParticipants(
            of: conversation.id, in: application)
        return conversation
    }
}

extension Conversation {
    /// The cache key of a conversation without its participants.
    static func cacheKey(_ id: ID, in application: Application.ID) -> RowCacheKey<Conversation> {
        RowCacheKey(of: application.bytes + id.bytes, in: "conversations")
    }

    /// The columns that ``init(_:)`` reads, in this order.
    static let columns: StaticString =
        """
        id, created_at, is_distinct, metadata, is_announced, deleted_at, last_position,
        last_sent_at, message_count, version, participant_count, is_wide
        """

    /// A conversation without its participants.
    init(_ row: borrowing Row) throws {
        self.init(
            id: try row.id(0), createdAt: try row.timestamp(1), participants: Participants([]),
            participantCount: try row.int(10), isWide: try row.bool(11),
            isDistinct: try row.bool(2), metadata: try row.metadata(3),
            isAnnounced: try row.bool(4), deletedAt: try row.optionalTimestamp(5),
            lastPosition: try row.position(6), lastSentAt: try row.optionalTimestamp(7),
            messageCount: try row.int64(8), version: try row.int64(9))
    }
}
