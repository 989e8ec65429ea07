internal import Bytes
internal import FoundationEssentials
internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

/// Reads shown objects from the store.
///
/// Objects are read in batches, each with the same few statements whatever its size. Identities and receipts that
/// several objects share are read once.
struct ObjectReader {
    /// The most objects of a batch: one parameter of a statement each.
    private static let batchSize = 512

    let transaction: Transaction
    let me: UserID
    /// What the outbox does at the moment; not stored.
    private let activity: OutboxActivity
    private var identities: [UserID: Identity] = [:]
    private var receipts: [Conversation.ID: [UserID: Receipts]] = [:]

    init(_ transaction: Transaction, of me: UserID, _ activity: OutboxActivity) {
        self.transaction = transaction
        self.me = me
        self.activity = activity
    }

    // MARK: - Conversations

    /// The conversation of an id or a former id; `nil` if there is none or it is hidden.
    mutating func conversation(_ id: Conversation.ID) throws -> Conversation? {
        try conversations([try transaction.currentID(of: id)]).first
    }

    /// The conversations of current ids, in their order, without those that do not exist or are hidden.
    mutating func conversations(_ ids: [Conversation.ID]) throws -> [Conversation] {
        var found: [Conversation] = []
        for batch in ids.chunks(of: Self.batchSize) { found += try readConversations(batch) }
        return found
    }

    private struct ConversationRow {
        let id: Conversation.ID
        let createdAt: Int64?
        let isParticipant, isDistinct, isCreated: Bool
        let metadata: String
        let unread, total: Int
        let last: Message.ID?
    }

    private mutating func readConversations(_ ids: [Conversation.ID]) throws -> [Conversation] {
        let keys = SQLArray.blobs(ids.map(\.bytes))
        // SQLite, which keeps no statistics here, would prefer the index of all that are shown to the keys.
        let rows = try transaction.rows(
            """
            SELECT id, created_at, is_participant, is_distinct, metadata, unread_count, total_count, last_message,
                is_created
            FROM conversations WHERE id \(in: keys) AND likely(is_hidden = 0)
            """
        ) { row in
            try Self.conversationID(row.blob("id")).map { id in
                ConversationRow(
                    id: id, createdAt: try row.optionalInt64("created_at"),
                    isParticipant: try row.bool("is_participant"),
                    isDistinct: try row.bool("is_distinct"), isCreated: try row.bool("is_created"),
                    metadata: try row.text("metadata"), unread: try row.int("unread_count"),
                    total: try row.int("total_count"),
                    last: try row.optionalBlob("last_message").flatMap(Message.ID.init(stored:)))
            }
        }
        let users = try transaction.rows(
            """
            SELECT conversation, user FROM participants WHERE conversation \(in: keys)
            ORDER BY conversation, place
            """
        ) { row in
            (conversation: try row.blob("conversation"), user: UserID(try row.text("user")))
        }
        let formers = try transaction.rows(
            "SELECT conversation, former FROM aliases WHERE conversation \(in: keys)"
        ) { row in
            (conversation: try row.blob("conversation"), former: try row.blob("former"))
        }
        let participants = Dictionary(grouping: users, by: \.conversation)
        let aliases = Dictionary(grouping: formers, by: \.conversation)
        try readIdentities(users.map(\.user))
        let last = Dictionary(
            try messages(rows.compactMap { row in row?.last }).map { ($0.id.value, $0) }
        ) { first, _ in first }
        let found = Dictionary(rows.compactMap(\.self).map { row in (row.id, row) }) { first, _ in
            first
        }
        return ids.compactMap { id -> Conversation? in
            guard let row = found[id] else { return nil }
            return Conversation(
                id: id,
                formerIDs: Set(
                    (aliases[id.bytes] ?? []).compactMap { Conversation.ID(stored: $0.former) }),
                participants: (participants[id.bytes] ?? []).compactMap { identities[$0.user] },
                isParticipant: row.isParticipant, isDistinct: row.isDistinct,
                metadata: Metadata(stored: row.metadata),
                createdAt: row.createdAt.map(Date.init(milliseconds:)),
                lastMessage: row.last.flatMap { id in last[id.value] }, unreadCount: row.unread,
                totalCount: row.total, isCreated: row.isCreated)
        }
    }

    private static func conversationID(_ bytes: [UInt8]?) -> Conversation.ID? {
        bytes.flatMap { bytes in Conversation.ID(stored: bytes) }
    }

    // MARK: - Messages

    /// The message of an id; `nil` if there is none or it is hidden.
    mutating func message(_ id: Message.ID) throws -> Message? { try messages([id]).first }

    /// The messages of ids, in their order, without those that do not exist or are hidden.
    mutating func messages(_ ids: [Message.ID]) throws -> [Message] {
        var found: [Message] = []
        for batch in ids.chunks(of: Self.batchSize) { found += try readMessages(batch) }
        return found
    }

    private struct MessageRow {
        let id: Message.ID
        let conversation: Conversation.ID?
        let position: Int64?
        let sender: UserID?
        let name: String?
        let sentAt, receivedAt: Int64?
        let recipients: [UserID]
        let isUnread, isSent: Bool
    }

    private mutating func readMessages(_ ids: [Message.ID]) throws -> [Message] {
        guard !ids.isEmpty else { return [] }
        let rows = try transaction.rows(
            """
            SELECT id, conversation, position, sender, sender_name, sent_at, received_at, recipients, is_unread,
                is_sent
            FROM messages WHERE id \(in: .blobs(ids.map(\.bytes))) AND is_hidden = 0
            """
        ) { row -> MessageRow? in
            let conversation = Self.conversationID(try row.optionalBlob("conversation"))
            guard let id = Message.ID(stored: try row.blob("id"), in: conversation) else {
                return nil
            }
            return MessageRow(
                id: id, conversation: conversation, position: try row.optionalInt64("position"),
                sender: try row.optionalText("sender").map { UserID($0) },
                name: try row.optionalText("sender_name"),
                sentAt: try row.optionalInt64("sent_at"),
                receivedAt: try row.optionalInt64("received_at"),
                recipients: Self.users(try row.text("recipients")),
                isUnread: try row.bool("is_unread"), isSent: try row.bool("is_sent"))
        }.compactMap(\.self)
        try readIdentities(rows.compactMap(\.sender))
        try readReceipts(rows.compactMap(\.conversation))
        let parts = try readParts(rows.map(\.id))
        let deliveries = try readDeliveries(
            rows.filter { row in !row.isSent }.map(\.id), parts)
        let found = Dictionary(rows.map { row in (row.id.value, row) }) { first, _ in first }
        return ids.compactMap { id -> Message? in
            guard let row = found[id.value] else { return nil }
            return Message(
                id: row.id, conversation: row.conversation, position: row.position,
                sender: row.sender.flatMap { identities[$0] }.map { .user($0) }
                    ?? .service(row.name ?? ""),
                parts: (parts[id.value] ?? []).map(\.part),
                sentAt: row.sentAt.map(Date.init(milliseconds:)),
                receivedAt: row.receivedAt.map(Date.init(milliseconds:)), isUnread: row.isUnread,
                delivery: row.isSent ? .sent : deliveries[id.value] ?? .queued,
                recipientStatus: statuses(of: row))
        }
    }

    // MARK: - Parts

    /// A part, and whether it has a file.
    private struct PartRow {
        let part: MessagePart
        let hasFile: Bool
    }

    /// The parts of a message, in their order.
    func parts(of message: Message.ID) throws -> [MessagePart] {
        try parts(of: [message])[message] ?? []
    }

    /// The parts of messages, in their order.
    func parts(of messages: [Message.ID]) throws -> [Message.ID: [MessagePart]] {
        var found: [Message.ID: [MessagePart]] = [:]
        for batch in messages.chunks(of: Self.batchSize) {
            let parts = try readParts(batch)
            for id in batch { found[id] = (parts[id.value] ?? []).map(\.part) }
        }
        return found
    }

    private func readParts(
        _ messages: [Message.ID]
    ) throws -> [Messaging.Message.ID: [PartRow]] {
        let ids = Dictionary(messages.map { id in (id.value, id) }) { first, _ in first }
        let rows = try transaction.rows(
            """
            SELECT message, part, name, mime_type, size, body, status, file IS NOT NULL AS has_file FROM parts
            WHERE message \(in: .blobs(messages.map(\.bytes))) ORDER BY message, part
            """
        ) { row -> PartRow? in
            guard let stored = Message.ID(stored: try row.blob("message")),
                let message = ids[stored.value]
            else { return nil }
            return PartRow(
                part: MessagePart(
                    id: MessagePart.ID(try row.text("name"), of: message),
                    index: try row.int("part"), mimeType: try row.text("mime_type"),
                    size: try row.int64("size"),
                    inline: try row.optionalBlob("body").map { Data($0) },
                    transferStatus: TransferStatus(rawValue: try row.int("status")) ?? .complete),
                hasFile: try row.bool("has_file"))
        }
        return Dictionary(grouping: rows.compactMap(\.self)) { row in row.part.message.value }
    }

    // MARK: - Identities

    /// The identity of a user; one without texts if the store has none.
    mutating func identity(_ user: UserID) throws -> Identity {
        try readIdentities([user])
        return identities[user] ?? Self.unknown(user)
    }

    /// The identities of users, in their order.
    mutating func identities(_ users: [UserID]) throws -> [Identity] {
        try readIdentities(users)
        return users.map { user in identities[user] ?? Self.unknown(user) }
    }

    /// Reads the identities of users that were not read yet.
    private mutating func readIdentities(_ users: [UserID]) throws {
        let unread = Array(Set(users.filter { user in identities[user] == nil }))
        for batch in unread.chunks(of: Self.batchSize) {
            let rows = try transaction.rows(
                """
                SELECT user, is_followed, display_name, first_name, last_name, email_address, phone_number,
                    public_key, avatar_url, metadata
                FROM identities WHERE user \(in: .texts(batch.map(\.text)))
                """
            ) { row in
                Identity(
                    id: UserID(try row.text("user")),
                    displayName: try row.optionalText("display_name"),
                    firstName: try row.optionalText("first_name"),
                    lastName: try row.optionalText("last_name"),
                    emailAddress: try row.optionalText("email_address"),
                    phoneNumber: try row.optionalText("phone_number"),
                    publicKey: try row.optionalText("public_key"),
                    avatarURL: try row.optionalText("avatar_url").flatMap { URL(string: $0) },
                    metadata: Metadata(stored: try row.text("metadata")),
                    isFollowed: try row.bool("is_followed"))
            }
            for user in batch { identities[user] = Self.unknown(user) }
            for identity in rows { identities[identity.id] = identity }
        }
    }

    private static func unknown(_ user: UserID) -> Identity {
        Identity(
            id: user, displayName: nil, firstName: nil, lastName: nil, emailAddress: nil,
            phoneNumber: nil, publicKey: nil, avatarURL: nil, metadata: .empty, isFollowed: false)
    }

    // MARK: - Status

    /// The status of each recipient (K19): from the receipts of the conversation and the position of the message.
    private func statuses(of row: MessageRow) -> [UserID: RecipientStatus] {
        let known = row.conversation.flatMap { id in receipts[id] } ?? [:]
        var statuses: [UserID: RecipientStatus] = [:]
        for user in row.recipients {
            statuses[user] =
                if row.conversation == nil {
                    row.isUnread ? .delivered : .read
                } else if user == row.sender {
                    .read
                } else if let position = row.position {
                    RecipientStatus(known[user]?.status(at: Position(position)) ?? .sent)
                } else {
                    .pending
                }
        }
        return statuses
    }

    /// Reads the receipts of conversations that were not read yet.
    private mutating func readReceipts(_ conversations: [Conversation.ID]) throws {
        let unread = Array(Set(conversations.filter { id in receipts[id] == nil }))
        guard !unread.isEmpty else { return }
        let rows = try transaction.rows(
            """
            SELECT conversation, user, delivered, read FROM receipts
            WHERE conversation \(in: .blobs(unread.map(\.bytes)))
            """
        ) { row in
            (
                conversation: Self.conversationID(try row.optionalBlob("conversation")),
                user: UserID(try row.text("user")),
                receipts: Receipts(
                    delivered: IntervalSet(text: try row.text("delivered")) ?? IntervalSet(),
                    read: IntervalSet(text: try row.text("read")) ?? IntervalSet())
            )
        }
        for id in unread { receipts[id] = [:] }
        for row in rows {
            guard let conversation = row.conversation else { continue }
            receipts[conversation]?[row.user] = row.receipts
        }
    }

    /// Where unsent messages are on their way: their own failure, an earlier failure of the conversation, or the request.
    private func readDeliveries(
        _ messages: [Message.ID], _ parts: [Messaging.Message.ID: [PartRow]]
    ) throws -> [Messaging.Message.ID: Delivery] {
        guard !messages.isEmpty else { return [:] }
        let send = OutboxKind.send.rawValue
        let rows = try transaction.rows(
            """
            SELECT message, number, failure, (
                SELECT b.message FROM outbox b INDEXED BY outbox_failed WHERE b.conversation = o.conversation
                    AND b.kind = \(send) AND b.failure IS NOT NULL AND b.number < o.number
                ORDER BY b.number LIMIT 1) AS blocking
            FROM outbox o WHERE o.message \(in: .blobs(messages.map(\.bytes))) AND o.kind = \(send)
            """
        ) { row in
            (
                message: Message.ID(stored: try row.blob("message")),
                number: try row.int64("number"), failure: try row.optionalText("failure"),
                blocking: try row.optionalBlob("blocking").flatMap(Message.ID.init(stored:))
            )
        }
        var deliveries: [Messaging.Message.ID: Delivery] = [:]
        for row in rows {
            guard let message = row.message?.value else { continue }
            let own = parts[message] ?? []
            let isUploading =
                own.contains { $0.part.transferStatus < .readyForDownload }
                && own.contains { $0.hasFile && $0.part.transferStatus > .awaitingUpload }
            deliveries[message] =
                if let failure = row.failure {
                    .failed(ParleyError(stored: failure))
                } else if let blocking = row.blocking {
                    .blocked(by: blocking)
                } else if activity.isSending(row.number) {
                    .sending
                } else {
                    isUploading ? .uploading : .queued
                }
        }
        return deliveries
    }

    private static func users(_ json: String) -> [UserID] {
        guard let document = try? JSONDocument(Array(json.utf8)) else { return [] }
        return document.root.elements.compactMap { element in element.string.map { UserID($0) } }
    }
}

extension Transaction {
    /// Whether there is a row.
    ///
    /// - Parameter source: A table and its `WHERE` clause.
    func hasRow(in source: SQL) throws -> Bool {
        try first("SELECT 1 AS found FROM \(source) LIMIT 1") { row in
            try row.int("found")
        } != nil
    }

    /// The id of the conversation into which another one was merged; the same id if it was not (K24).
    func currentID(of id: Conversation.ID) throws -> Conversation.ID {
        let found = try first(
            "SELECT conversation FROM aliases WHERE former = \(id.bytes)"
        ) { row in try row.blob("conversation") }
        return found.flatMap { bytes in
            Conversation.ID(stored: bytes)
        } ?? id
    }
}

extension Conversation.ID {
    /// The id of a row: 16 bytes.
    init?(stored bytes: [UInt8]) {
        guard let value = Messaging.Conversation.ID(bytes: bytes) else { return nil }
        self.init(value)
    }

    /// The 16 bytes of a row.
    var bytes: [UInt8] { value.bytes }
}

extension Message.ID {
    /// The id of a row: 16 bytes. Whether it is an announcement is known from the row's conversation.
    init?(stored bytes: [UInt8]) {
        guard let value = Messaging.Message.ID(bytes: bytes) else { return nil }
        self.init(value)
    }

    /// The id of a row with the conversation of the message; an announcement has none.
    init?(stored bytes: [UInt8], in conversation: Conversation.ID?) {
        guard let value = Messaging.Message.ID(bytes: bytes) else { return nil }
        self.init(value, isAnnouncement: conversation == nil)
    }

    /// The 16 bytes of a row.
    var bytes: [UInt8] { value.bytes }
}

extension Metadata {
    /// Reads the JSON of a row; an invalid one, which is a damaged store, is read as empty.
    init(stored json: String) {
        let tree = (try? JSONDocument(Array(json.utf8))).flatMap { document in
            MetadataJSON.read(document.root)
        }
        self = tree.map { Metadata($0) } ?? .empty
    }

    /// The JSON of a row.
    var stored: String {
        var writer = JSONWriter()
        MetadataJSON.write(tree, into: &writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}

extension RecipientStatus {
    init(_ status: Messaging.RecipientStatus) {
        self =
            switch status {
            case .sent: .sent
            case .delivered: .delivered
            case .read: .read
            }
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
