internal import Bytes
internal import FoundationEssentials
internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

/// A transaction that changes a store, and collects what subscribers are told of it.
///
/// What is shown of a conversation is computed once, at its end, for all conversations that were changed.
final class StoreTransaction {
    /// The transaction of the database.
    let sql: Transaction
    private var commit = Store.Commit()
    private var changed: Set<Conversation.ID> = []
    private var settings: [String: String?] = [:]
    /// What a feed's items of one transaction have in common, read and stored once.
    var shared = SharedRows()

    /// See ``shared``.
    struct SharedRows {
        /// The receipts of the user, by conversation.
        var ownReceipts: [Conversation.ID: Receipts] = [:]
        /// The names of users as they were stored last.
        var mentioned: [UserID: BasicIdentity] = [:]
        /// The conversations for which a row reports deliveries.
        var reporting: Set<Conversation.ID> = []
        /// The conversations to which messages have come that a merge had moved, or of which such messages were removed.
        var completed: Set<Conversation.ID> = []
    }

    init(_ sql: Transaction) { self.sql = sql }

    // MARK: - Settings

    /// The value of a setting; `nil` if it is not set.
    func setting(_ name: String) throws -> String? {
        if let known = settings[name] { return known }
        let value = try sql.first("SELECT value FROM settings WHERE name = \(name)") { row in
            try row.text("value")
        }
        settings[name] = value
        return value
    }

    /// Sets a setting; `nil` deletes it.
    func set(_ name: String, _ value: String?) throws {
        settings[name] = value
        if let value {
            try sql.execute(
                "INSERT OR REPLACE INTO settings (name, value) VALUES (\(name), \(value))")
        } else {
            try sql.execute("DELETE FROM settings WHERE name = \(name)")
        }
    }

    /// The user of the store; empty before the first session.
    func user() throws -> UserID { UserID(try setting("user") ?? "") }

    /// The number of the last snapshot of the feed; rows that it has named have it too.
    func snapshot() throws -> Int64 { Int64(try setting("snapshot") ?? "") ?? 0 }

    // MARK: - Changes

    /// Records a change of a conversation's row, messages or outbox: what is shown of it is computed at the end.
    func touch(_ conversation: Conversation.ID) { changed.insert(conversation) }

    /// Records a change that subscribers see.
    func note(
        _ kind: ObjectChange.Kind, of object: ObjectID, in conversation: Conversation.ID? = nil,
        from before: PropertyValue? = nil, to after: PropertyValue? = nil
    ) {
        commit.append([ObjectChange(object: object, kind: kind, before: before, after: after)])
        switch object {
        case .conversation(let id):
            commit.tables.insert(.conversations)
            commit.conversations.insert(id)
        case .message, .part: commit.tables.insert(.messages)
        case .identity: commit.tables.formUnion([.identities, .conversations, .messages])
        }
        if let conversation { commit.conversations.insert(conversation) }
    }

    /// Records that a message is no longer unread.
    func noteRead(_ message: Message.ID, in conversation: Conversation.ID?) {
        note(
            .updated(property: "isUnread"), of: .message(message), in: conversation,
            from: .flag(true), to: .flag(false))
    }

    /// Records that queries of a conversation's messages may have another result, without a change of an object.
    func noteMessages(of conversation: Conversation.ID) {
        commit.tables.insert(.messages)
        commit.conversations.insert(conversation)
    }

    /// Records that the outbox has a new row, or one that may be sent now.
    func noteCommand() { commit.hasCommands = true }

    /// Records that an upload or download may begin.
    func noteTransfer() { commit.hasTransfers = true }

    /// Records that the server has contents that it had not before.
    func noteSentContents() { commit.hasSentContents = true }

    /// Records that a part is gone, whose transfer ends.
    func noteRemoved(_ part: MessagePart.ID) { commit.removedParts.append(part) }

    /// Records that a file of the folder of contents is needed no more.
    func noteRemoved(file: String) { commit.removedFiles.append(file) }

    /// Computes what is shown of the changed conversations, and returns what the commit has changed.
    func finish() throws -> Store.Commit {
        for id in changed { try computeShown(id) }
        if !commit.hasCommands, try hasReceipts(toSendIn: shared.completed) { noteCommand() }
        return commit
    }

    // MARK: - Shown conversations

    /// The lowest place of messages without a position, which have 2^62 and the number of their command.
    static let firstUnsentPlace = Int64(1) << 62

    /// What a row of `conversations` shows.
    fileprivate struct Shown: Equatable {
        var isHidden = false
        var isCreated = false
        var createdAt: Int64?
        var isParticipant = true
        var isDistinct = false
        var participants: [UserID] = []
        var metadata = Metadata.empty
        var unread: Int64 = 0
        var total: Int64 = 0
        var lastMessage: [UInt8]?
        var activeAt: Int64 = 0
    }

    /// Stores what is shown of a conversation: what the server last sent, with the pending commands in turn (K17).
    private func computeShown(_ id: Conversation.ID) throws {
        guard let (base, before) = try rows(of: id) else { return }
        let me = try user()
        var shown = Shown(base, of: me)
        let createsIt = try applyPending(to: &shown, id, me, hasBase: base != nil)
        try countMessages(of: id, above: base?.feedMembers?.top.number ?? 0, into: &shown)
        if base == nil, !createsIt {
            shown.isHidden = true
            if shown.lastMessage == nil, try !hasCommands(id) { return try delete(id, before) }
        }
        guard shown != before.shown else { return }
        try store(shown, before.shown, id)
        noteDifferences(before.shown, shown, wasKnown: before.wasShown, id)
    }

    /// Whether the base of a conversation is what operations make of it already.
    func baseShows(_ payload: [UInt8], of id: Conversation.ID) throws -> Bool {
        guard let base = try rows(of: id)?.base else { return false }
        let me = try user()
        let before = Shown(base, of: me)
        var after = before
        for patch in try OutboxPayload.patches(payload) { after.apply(patch, me) }
        return after == before
    }

    /// Deletes what is left of a conversation that neither the server nor the outbox has.
    private func delete(_ id: Conversation.ID, _ before: (shown: Shown, wasShown: Bool)) throws {
        try sql.execute("DELETE FROM participants WHERE conversation = \(id.bytes)")
        try sql.execute("DELETE FROM metadata WHERE conversation = \(id.bytes)")
        try sql.execute("DELETE FROM conversations WHERE id = \(id.bytes)")
        if before.wasShown, !before.shown.isHidden { note(.deleted, of: .conversation(id)) }
    }

    private func rows(
        of id: Conversation.ID
    ) throws -> (base: ConversationJSON?, before: (shown: Shown, wasShown: Bool))? {
        let found = try sql.first(
            """
            SELECT base, is_hidden, is_created, created_at, is_participant, is_distinct, participant_set, metadata,
                unread_count, total_count, last_message, active_at
            FROM conversations WHERE id = \(id.bytes)
            """
        ) { row in
            let set = try row.text("participant_set")
            return (
                base: try row.optionalBlob("base"),
                shown: Shown(
                    isHidden: try row.bool("is_hidden"), isCreated: try row.bool("is_created"),
                    createdAt: try row.optionalInt64("created_at"),
                    isParticipant: try row.bool("is_participant"),
                    isDistinct: try row.bool("is_distinct"), participants: [],
                    metadata: Metadata(stored: try row.text("metadata")),
                    unread: try row.int64("unread_count"), total: try row.int64("total_count"),
                    lastMessage: try row.optionalBlob("last_message"),
                    activeAt: try row.int64("active_at")),
                wasShown: !set.isEmpty
            )
        }
        guard var found else { return nil }
        found.shown.participants = try sql.rows(
            "SELECT user FROM participants WHERE conversation = \(id.bytes) ORDER BY place"
        ) { row in UserID(try row.text("user")) }
        let base = try found.base.map { bytes in
            guard let document = try? JSONDocument(bytes),
                let conversation = ConversationJSON.readFeed(document.root)
            else {
                throw ParleyError(.storeCorrupt, "The row of \(id) in the store is damaged.")
            }
            return conversation
        }
        return (base, (found.shown, found.wasShown))
    }

    /// Whether commands of a conversation wait, refused ones included.
    private func hasCommands(_ id: Conversation.ID) throws -> Bool {
        try sql.hasRow(in: "outbox WHERE conversation = \(id.bytes)")
    }

    /// Applies the commands that change what is shown of a conversation itself: there may be thousands of others.
    ///
    /// - Returns: Whether one of them creates it.
    private func applyPending(
        to shown: inout Shown, _ id: Conversation.ID, _ me: UserID, hasBase: Bool
    ) throws -> Bool {
        let pending = try sql.rows(
            """
            SELECT kind, payload, created_at FROM outbox
            WHERE conversation = \(id.bytes)
                AND kind \(in: OutboxKind.namesOfConversationChanges) ORDER BY number
            """
        ) { row in
            (
                kind: OutboxKind(rawValue: try row.text("kind")), payload: try row.blob("payload"),
                createdAt: try row.int64("created_at")
            )
        }
        var readsAll = false
        for row in pending {
            switch row.kind {
            case .create where !hasBase:
                let draft = try OutboxPayload.conversation(row.payload)
                shown.participants = draft.participants.users.map { user in UserID(user) }
                shown.isDistinct = draft.isDistinct
                shown.metadata = draft.metadata.map { tree in Metadata(tree) } ?? .empty
                shown.activeAt = row.createdAt
            case .patch:
                for patch in try OutboxPayload.patches(row.payload) {
                    shown.apply(patch, me)
                }
            case .deleteConversation, .leave: shown.isHidden = true
            case .markAllRead: readsAll = true
            default: break
            }
        }
        if readsAll {
            shown.unread = try count(
                """
                SELECT count(*) AS number FROM messages
                WHERE conversation = \(id.bytes) AND base_unread = 1 AND read_by = 0
                """)
        } else {
            let readHere = try count(
                """
                SELECT count(*) AS number FROM messages INDEXED BY messages_read_here
                WHERE read_by > 0 AND conversation = \(id.bytes)
                """)
            shown.unread = max(0, shown.unread - readHere)
        }
        return pending.contains { row in row.kind == .create }
    }

    /// Counts the messages without those deleted here, and finds the last one.
    ///
    /// - Parameter top: The highest position that the base has counted. Messages above are new: unsent, or answered before
    ///   the feed has come to them.
    private func countMessages(
        of id: Conversation.ID, above top: Int64, into shown: inout Shown
    ) throws {
        let unsent = try count(
            "SELECT unsent AS number FROM message_counts WHERE conversation = \(id.bytes)")
        let answered = try count(
            """
            SELECT count(*) AS number FROM messages
            WHERE conversation = \(id.bytes) AND place > \(top) AND place < \(Self.firstUnsentPlace)
                AND is_hidden = 0
            """)
        // Only messages that were deleted on this device; the base no longer counts those that the feed removed.
        let hidden = try sql.first(
            """
            SELECT count(*) AS number, coalesce(sum(m.base_unread = 1 AND m.read_by = 0), 0) AS unread
            FROM outbox o JOIN messages m ON m.id = o.message
            WHERE o.conversation = \(id.bytes) AND o.kind = \(OutboxKind.deleteMessage.rawValue)
                AND o.failure IS NULL AND m.is_hidden = 1 AND m.place <= \(top)
            """
        ) { row in (number: try row.int64("number"), unread: try row.int64("unread")) }
        shown.total = max(0, shown.total + unsent + answered - (hidden?.number ?? 0))
        shown.unread = max(0, shown.unread - (hidden?.unread ?? 0))
        let last = try sql.first(
            """
            SELECT id, coalesce(received_at, sent_at) AS at FROM messages
            WHERE conversation = \(id.bytes) AND is_hidden = 0 ORDER BY place DESC LIMIT 1
            """
        ) { row in (id: try row.blob("id"), at: try row.optionalInt64("at")) }
        shown.lastMessage = last?.id
        shown.activeAt = last?.at ?? shown.createdAt ?? shown.activeAt
    }

    /// The `number` of the one row of a query.
    private func count(_ query: SQL) throws -> Int64 {
        try sql.first(query) { row in try row.int64("number") } ?? 0
    }

    private func store(_ shown: Shown, _ before: Shown, _ id: Conversation.ID) throws {
        let set = Self.participantSet(shown.participants)
        try sql.execute(
            """
            UPDATE conversations SET
                is_hidden = \(shown.isHidden), is_created = \(shown.isCreated),
                created_at = \(shown.createdAt), is_participant = \(shown.isParticipant),
                is_distinct = \(shown.isDistinct), participant_set = \(set),
                metadata = \(shown.metadata.stored), unread_count = \(shown.unread),
                total_count = \(shown.total), last_message = \(shown.lastMessage),
                active_at = \(shown.activeAt)
            WHERE id = \(id.bytes)
            """)
        if shown.participants != before.participants {
            try sql.execute("DELETE FROM participants WHERE conversation = \(id.bytes)")
            for (place, user) in shown.participants.enumerated() {
                try sql.execute(
                    """
                    INSERT OR IGNORE INTO participants (conversation, user, place)
                    VALUES (\(id.bytes), \(user.text), \(place))
                    """)
            }
        }
        if shown.metadata != before.metadata {
            try sql.execute("DELETE FROM metadata WHERE conversation = \(id.bytes)")
            for (path, text) in shown.metadata.leaves {
                try sql.execute(
                    """
                    INSERT INTO metadata (conversation, path, text)
                    VALUES (\(id.bytes), \(path), \(text))
                    """)
            }
        }
    }

    /// The key under which a set of participants is found: their ids in the order of their bytes.
    static func participantSet(_ users: [UserID]) -> String {
        // No user id contains U+0000. The last U+0000 marks a row that was computed.
        Set(users).sorted().map { "\($0.text)\u{0}" }.joined() + "\u{0}"
    }

    private func noteDifferences(
        _ before: Shown, _ shown: Shown, wasKnown: Bool, _ id: Conversation.ID
    ) {
        let object = ObjectID.conversation(id)
        if shown.isHidden {
            if !before.isHidden, wasKnown { note(.deleted, of: object) }
            return
        }
        guard wasKnown, !before.isHidden else { return note(.created, of: object) }
        for ((name, old), (_, new)) in zip(before.properties, shown.properties) where old != new {
            note(.updated(property: name), of: object, from: old, to: new)
        }
        guard before.metadata != shown.metadata else { return }
        let (old, new) = (before.metadata.leaves, shown.metadata.leaves)
        for path in Set(old.keys).union(new.keys).sorted() where old[path] != new[path] {
            note(
                .updated(property: "metadata.\(path)"), of: object,
                from: old[path].map { text in .text(text) },
                to: new[path].map { text in .text(text) })
        }
    }
}

extension StoreTransaction.Shown {
    /// What the server last sent of a conversation; nothing before it has.
    fileprivate init(_ base: ConversationJSON?, of me: UserID) {
        guard let base, let feed = base.feedMembers else { return }
        let users = base.participants.map { identity in UserID(identity.userID) }
        isCreated = true
        createdAt = base.createdAt.milliseconds
        participants = users
        isParticipant = users.contains(me) || base.participantCount > users.count
        isDistinct = base.isDistinct
        metadata = Metadata(base.metadata)
        unread = feed.unreadCount
        total = feed.totalCount
    }

    /// The properties that changes name, without the metadata.
    fileprivate var properties: [(name: String, value: PropertyValue?)] {
        [
            ("participants", .users(participants)), ("isParticipant", .flag(isParticipant)),
            ("isDistinct", .flag(isDistinct)), ("isCreated", .flag(isCreated)),
            ("createdAt", createdAt.map { at in .time(Date(milliseconds: at)) }),
            ("unreadCount", .number(unread)), ("totalCount", .number(total)),
            ("lastMessage", lastMessage.flatMap(Message.ID.init(stored:)).map { .message($0) }),
        ]
    }

    /// Applies an operation as the server will.
    fileprivate mutating func apply(_ patch: ConversationPatch, _ me: UserID) {
        let before = participants
        switch patch {
        case .addParticipant(let user):
            if !participants.contains(UserID(user)) { participants.append(UserID(user)) }
        case .removeParticipant(let user): participants.removeAll { $0 == UserID(user) }
        case .setParticipants(let users): participants = users.map { user in UserID(user) }
        case .setMetadata(let path, let tree):
            metadata = metadata.setting(Metadata(tree), at: path[...])
        case .deleteMetadata(let path): metadata = metadata.deleting(at: path[...])
        }
        if participants != before {
            isDistinct = false
            isParticipant = participants.contains(me)
        }
    }
}
