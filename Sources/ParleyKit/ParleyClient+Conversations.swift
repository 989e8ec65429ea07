internal import Messaging
internal import MessagingWire
internal import SQL

extension ParleyClient {
    // MARK: - Reading

    /// The conversation of an id, or of the id of a conversation that was merged into it; `nil` if there is none.
    public func conversation(_ id: Conversation.ID) async throws(ParleyError) -> Conversation? {
        try await read { reader in try reader.conversation(id) }
    }

    // MARK: - Creating

    /// Makes a conversation with other users; the server learns of it no later than with the first message.
    ///
    /// The user is a participant without being named. A distinct conversation that this device knows is returned instead
    /// of a new one.
    ///
    /// - Throws: `tooManyParticipants` for more than 25 with this user, `invalidMetadata`, `distinctExists` if the distinct
    ///   conversation is known with other metadata than those given, and `notAuthenticated` before the first session.
    @discardableResult
    public func newConversation(
        with users: Set<UserID>, _ options: ConversationOptions = ConversationOptions()
    ) async throws(ParleyError) -> Conversation {
        var others: [Messaging.UserID] = []
        for user in users.sorted() { others.append(try user.validated()) }
        try options.metadata?.check()
        if let metadata = options.metadata, case .text = metadata {
            throw ParleyError(.invalidMetadata, "The metadata of a conversation must be an object.")
        }
        let id = try await store.write { [others] transaction -> Conversation.ID in
            let me = try transaction.user()
            guard let owner = Messaging.UserID(me.text) else { throw ParleyError.noSession }
            let participants = [owner] + others.filter { $0 != owner }
            if options.isDistinct,
                let known = try transaction.distinctConversation(of: participants, options.metadata)
            {
                return known
            }
            return try transaction.createConversation(participants, options)
        }
        guard let conversation = try await conversation(id) else {
            throw ParleyError(.conversationGone, "The conversation \(id) was deleted meanwhile.")
        }
        return conversation
    }

    // MARK: - Participants

    /// Adds users to a conversation; it is no longer distinct. Users that are participants already change nothing.
    ///
    /// - Throws: `tooManyParticipants`, `notAParticipant` if the user is none, `conversationGone`.
    public func add(_ users: Set<UserID>, to id: Conversation.ID) async throws(ParleyError) {
        try await patch(id) { participants throws(ParleyError) in
            let new = users.filter { user in !participants.contains(user) }
            guard participants.count + new.count <= MessagingLimits().participants else {
                throw .tooManyParticipants
            }
            return try new.sorted().map { user throws(ParleyError) in
                .addParticipant(try user.validated())
            }
        }
    }

    /// Removes users from a conversation; it is no longer distinct.
    ///
    /// - Throws: `notAParticipant` if the user is none, `conversationGone`.
    public func remove(_ users: Set<UserID>, from id: Conversation.ID) async throws(ParleyError) {
        try await patch(id) { participants throws(ParleyError) in
            try users.filter(participants.contains).sorted().map { user throws(ParleyError) in
                .removeParticipant(try user.validated())
            }
        }
    }

    // MARK: - Metadata

    /// Sets a value of the metadata; objects on the path are made, and what was there is replaced.
    ///
    /// - Throws: `invalidMetadata`, `notAParticipant`, `conversationGone`.
    public func setMetadata(
        _ value: Metadata, at path: MetadataPath, of id: Conversation.ID
    ) async throws(ParleyError) {
        try path.check()
        try value.check(level: path.keys.count)
        try await patch(id) { _ in [.setMetadata(path: path.keys, value.tree)] }
    }

    /// Sets the metadata.
    ///
    /// - Parameter merge: Whether texts at other paths stay; otherwise the whole tree is replaced.
    /// - Throws: `invalidMetadata`, `notAParticipant`, `conversationGone`.
    public func setMetadata(
        _ metadata: Metadata, merge: Bool, of id: Conversation.ID
    ) async throws(ParleyError) {
        guard case .object = metadata else {
            throw ParleyError(.invalidMetadata, "The metadata of a conversation must be an object.")
        }
        try metadata.check()
        let patches: [ConversationPatch] =
            merge
            ? metadata.leaves.sorted { $0.key < $1.key }.map { path, text in
                .setMetadata(
                    path: path.split(separator: ".").map(String.init), .text(text))
            } : [.setMetadata(path: [], metadata.tree)]
        try await patch(id) { _ in patches }
    }

    /// Deletes the values at some paths, with everything below; paths without a value change nothing.
    ///
    /// - Throws: `invalidMetadata` for a malformed path, `notAParticipant`, `conversationGone`.
    public func deleteMetadata(
        at paths: [MetadataPath], of id: Conversation.ID
    ) async throws(ParleyError) {
        for path in paths { try path.check() }
        try await patch(id) { _ in paths.map { path in .deleteMetadata(path: path.keys) } }
    }

    // MARK: - Deleting

    /// Deletes a conversation with its messages from this user's devices or for all participants. It is hidden at once, and
    /// its waiting commands are dropped. After a deletion from the user's devices a later message shows it again.
    ///
    /// - Throws: `notAParticipant` for all participants if the user is none, `conversationGone`.
    public func delete(
        _ id: Conversation.ID, _ mode: DeletionMode
    ) async throws(ParleyError) {
        try await drop(
            id, .deleteConversation, Array(mode.rawValue.utf8),
            needsMembership: mode == .allParticipants)
    }

    /// Leaves a conversation and deletes it from this user's devices.
    public func leave(_ id: Conversation.ID) async throws(ParleyError) {
        try await drop(id, .leave, [], needsMembership: false)
    }

    private func drop(
        _ id: Conversation.ID, _ kind: OutboxKind, _ payload: [UInt8], needsMembership: Bool
    ) async throws(ParleyError) {
        try await store.write { transaction in
            let id = try transaction.sql.currentID(of: id)
            try transaction.requireConversation(id, asParticipant: needsMembership)
            let isCreated = try transaction.dropCommands(of: id)
            if isCreated {
                try transaction.enqueue(
                    kind, lane: .conversation(id), conversation: id, payload: payload,
                    at: Clock.now)
            } else {
                transaction.touch(id)
            }
        }
    }

    private func patch(
        _ id: Conversation.ID,
        _ patches: @escaping @Sendable (Set<UserID>) throws(ParleyError) -> [ConversationPatch]
    ) async throws(ParleyError) {
        try await store.write { transaction in
            let id = try transaction.sql.currentID(of: id)
            try transaction.requireConversation(id, asParticipant: true)
            let patches = try patches(try transaction.participants(of: id))
            guard !patches.isEmpty else { return }
            guard try !transaction.combine(patches, in: id) else { return }
            try transaction.enqueue(
                .patch, lane: .conversation(id), conversation: id,
                payload: ConversationPatchJSON.body(patches), at: Clock.now)
        }
    }
}

extension ParleyError {
    static let noSession = ParleyError(
        .notAuthenticated, "Call authenticate() once before the store is used.")

    static let tooManyParticipants = ParleyError(
        .tooManyParticipants,
        "A conversation has at most \(MessagingLimits().participants) participants.")
}

extension StoreTransaction {
    /// The distinct conversation of some users that this device knows; `nil` if there is none.
    ///
    /// Two exist when the server has sent one while this device still waits to create its own. The waiting one is returned,
    /// so that its messages are sent first; the server's answer merges them (K23).
    ///
    /// - Throws: `distinctExists` if it has other metadata than those given.
    fileprivate func distinctConversation(
        of users: [Messaging.UserID], _ metadata: Metadata?
    ) throws -> Conversation.ID? {
        let set = Self.participantSet(users.map { user in UserID(user) })
        let known = try sql.first(
            """
            SELECT id, metadata FROM conversations
            WHERE participant_set = \(set) AND is_distinct = 1 AND is_hidden = 0
            ORDER BY EXISTS (SELECT 1 FROM outbox WHERE conversation = conversations.id
                AND kind = \(OutboxKind.create.rawValue) AND answered_position IS NULL AND failure IS NULL) DESC
            LIMIT 1
            """
        ) { row in (id: try row.blob("id"), metadata: Metadata(stored: try row.text("metadata"))) }
        guard let known, let id = Conversation.ID(stored: known.id) else { return nil }
        guard metadata == nil || metadata == known.metadata else {
            throw ParleyError(
                .distinctExists,
                "The conversation of these participants exists with other metadata; change those of \(id)."
            )
        }
        return id
    }

    fileprivate func createConversation(
        _ participants: [Messaging.UserID], _ options: ConversationOptions
    ) throws -> Conversation.ID {
        let now = Clock.now
        let id =
            options.id
            ?? Conversation.ID(.v7(at: now, random: .random(in: 0 ... .max)))
        let draft: Messaging.Conversation.Draft
        do throws(Rejection) {
            draft = try Messaging.Conversation.Draft(
                participants: participants, isDistinct: options.isDistinct,
                metadata: options.metadata?.tree, proposedID: id.value)
        } catch {
            throw ParleyError.tooManyParticipants
        }
        guard try !sql.hasRow(in: "conversations WHERE id = \(id.bytes)") else {
            throw ParleyError(.distinctExists, "There is a conversation with the id \(id).")
        }
        try insertConversation(id)
        try enqueue(
            .create, lane: .conversation(id), conversation: id,
            payload: ConversationDraftJSON.body(draft), at: now)
        return id
    }

    /// Requires a conversation that is shown.
    ///
    /// - Throws: `conversationGone`, or `notAParticipant` if the user must be a participant.
    func requireConversation(_ id: Conversation.ID, asParticipant: Bool) throws {
        let row = try sql.first(
            "SELECT is_participant FROM conversations WHERE id = \(id.bytes) AND is_hidden = 0"
        ) { row in try row.bool("is_participant") }
        guard let isParticipant = row else {
            throw ParleyError(.conversationGone, "There is no conversation \(id).")
        }
        guard isParticipant || !asParticipant else {
            throw ParleyError(
                .notAParticipant,
                "The user is not a participant of \(id); only reading and deleting it is possible.")
        }
    }

    func participants(of id: Conversation.ID) throws -> Set<UserID> {
        Set(
            try sql.rows(
                "SELECT user FROM participants WHERE conversation = \(id.bytes)"
            ) { row in UserID(try row.text("user")) })
    }

    /// Drops the waiting commands of a conversation and its unsent messages.
    ///
    /// - Returns: Whether the server has the conversation, or may have it.
    fileprivate func dropCommands(of id: Conversation.ID) throws -> Bool {
        let isCreated = try sql.first(
            """
            SELECT base IS NOT NULL OR NOT EXISTS (SELECT 1 FROM outbox WHERE conversation = \(id.bytes)
                AND kind = 'create' AND answered_position IS NULL
                AND (sent_at IS NULL OR failure IS NOT NULL)) AS created
            FROM conversations WHERE id = \(id.bytes)
            """
        ) { row in try row.bool("created") }
        let unsent = try sql.rows(
            """
            SELECT id FROM messages
            WHERE conversation = \(id.bytes) AND is_sent = 0 AND position IS NULL
            """
        ) { row in Message.ID(stored: try row.blob("id")) }
        for message in unsent.compactMap(\.self) { try removeMessage(message) }
        try sql.execute(
            """
            DELETE FROM outbox WHERE conversation = \(id.bytes) AND answered_position IS NULL
                AND NOT (kind = 'create' AND sent_at IS NOT NULL AND failure IS NULL)
            """)
        return isCreated ?? false
    }
}
