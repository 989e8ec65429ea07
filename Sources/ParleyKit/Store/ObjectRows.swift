internal import Bytes
internal import FoundationEssentials
internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

/// Reads shown objects from the store.
///
/// Identities and receipts that several objects share are read once.
struct ObjectReader {
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

    /// The conversation of an id or a former id; `nil` if there is none or it is hidden.
    mutating func conversation(_ id: Conversation.ID) throws -> Conversation? {
        let id = try transaction.currentID(of: id)
        let row = try transaction.first(
            """
            SELECT created_at, is_participant, is_distinct, metadata, unread_count, total_count, last_message,
                is_created
            FROM conversations WHERE id = \(id.bytes) AND is_hidden = 0
            """
        ) { row in
            (
                createdAt: try row.optionalInt64("created_at"),
                isParticipant: try row.bool("is_participant"),
                isDistinct: try row.bool("is_distinct"),
                metadata: try row.text("metadata"),
                unread: try row.int("unread_count"), total: try row.int("total_count"),
                last: try row.optionalBlob("last_message"),
                isCreated: try row.bool("is_created")
            )
        }
        guard let row else { return nil }
        let users = try transaction.rows(
            """
            SELECT user FROM participants WHERE conversation = \(id.bytes) ORDER BY place
            """
        ) { row in UserID(try row.text("user")) }
        let formers = try transaction.rows(
            "SELECT former FROM aliases WHERE conversation = \(id.bytes)"
        ) { row in try row.blob("former") }
        var participants: [Identity] = []
        for user in users { participants.append(try identity(user)) }
        return Conversation(
            id: id,
            formerIDs: Set(
                formers.compactMap { bytes in
                    Conversation.ID(stored: bytes)
                }),
            participants: participants, isParticipant: row.isParticipant,
            isDistinct: row.isDistinct, metadata: Metadata(stored: row.metadata),
            createdAt: row.createdAt.map(Date.init(milliseconds:)),
            lastMessage: try row.last.flatMap { bytes in
                try Message.ID(stored: bytes).flatMap { id in try message(id) }
            },
            unreadCount: row.unread, totalCount: row.total, isCreated: row.isCreated)
    }

    /// The message of an id; `nil` if there is none or it is hidden.
    mutating func message(_ id: Message.ID) throws -> Message? {
        let row = try transaction.first(
            """
            SELECT conversation, position, sender, sender_name, sent_at, received_at, recipients, is_unread, is_sent
            FROM messages WHERE id = \(id.bytes) AND is_hidden = 0
            """
        ) { row in
            (
                conversation: try row.optionalBlob("conversation"),
                position: try row.optionalInt64("position"),
                sender: try row.optionalText("sender"), name: try row.optionalText("sender_name"),
                sentAt: try row.optionalInt64("sent_at"),
                receivedAt: try row.optionalInt64("received_at"),
                recipients: try row.text("recipients"), isUnread: try row.bool("is_unread"),
                isSent: try row.bool("is_sent")
            )
        }
        guard let row else { return nil }
        let conversation = row.conversation.flatMap { bytes in
            Conversation.ID(stored: bytes)
        }
        let id = Message.ID(id.value, isAnnouncement: conversation == nil)
        let sender: Sender =
            if let user = row.sender {
                .user(try identity(UserID(user)))
            } else {
                .service(row.name ?? "")
            }
        return Message(
            id: id, conversation: conversation, position: row.position, sender: sender,
            parts: try parts(of: id), sentAt: row.sentAt.map(Date.init(milliseconds:)),
            receivedAt: row.receivedAt.map(Date.init(milliseconds:)), isUnread: row.isUnread,
            delivery: row.isSent ? .sent : try delivery(of: id, in: conversation),
            recipientStatus: try statuses(
                of: Self.users(row.recipients), sender: row.sender.map { UserID($0) },
                conversation, row.position, isRead: !row.isUnread))
    }

    /// The parts of a message, in their order.
    func parts(of message: Message.ID) throws -> [MessagePart] {
        try transaction.rows(
            """
            SELECT part, name, mime_type, size, body, status FROM parts
            WHERE message = \(message.bytes) ORDER BY part
            """
        ) { row in
            MessagePart(
                id: MessagePart.ID(try row.text("name"), of: message), index: try row.int("part"),
                mimeType: try row.text("mime_type"), size: try row.int64("size"),
                inline: try row.optionalBlob("body").map { Data($0) },
                transferStatus: TransferStatus(rawValue: try row.int("status")) ?? .complete)
        }
    }

    /// The identity of a user; one without texts if the store has none.
    mutating func identity(_ user: UserID) throws -> Identity {
        if let identity = identities[user] { return identity }
        let found = try transaction.first(
            """
            SELECT is_followed, display_name, first_name, last_name, email_address, phone_number, public_key,
                avatar_url, metadata
            FROM identities WHERE user = \(user.text)
            """
        ) { row in
            Identity(
                id: user, displayName: try row.optionalText("display_name"),
                firstName: try row.optionalText("first_name"),
                lastName: try row.optionalText("last_name"),
                emailAddress: try row.optionalText("email_address"),
                phoneNumber: try row.optionalText("phone_number"),
                publicKey: try row.optionalText("public_key"),
                avatarURL: try row.optionalText("avatar_url").flatMap { URL(string: $0) },
                metadata: Metadata(stored: try row.text("metadata")),
                isFollowed: try row.bool("is_followed"))
        }
        let identity =
            found
            ?? Identity(
                id: user, displayName: nil, firstName: nil, lastName: nil, emailAddress: nil,
                phoneNumber: nil, publicKey: nil, avatarURL: nil, metadata: .empty,
                isFollowed: false)
        identities[user] = identity
        return identity
    }

    /// The status of each recipient (K19): from the receipts of the conversation and the position of the message.
    private mutating func statuses(
        of users: [UserID], sender: UserID?, _ conversation: Conversation.ID?, _ position: Int64?,
        isRead: Bool
    ) throws -> [UserID: RecipientStatus] {
        var statuses: [UserID: RecipientStatus] = [:]
        let known = try conversation.map { id in try receipts(in: id) } ?? [:]
        for user in users {
            statuses[user] =
                if conversation == nil {
                    isRead ? .read : .delivered
                } else if user == sender {
                    .read
                } else if let position {
                    RecipientStatus(known[user]?.status(at: Position(position)) ?? .sent)
                } else {
                    .pending
                }
        }
        return statuses
    }

    private mutating func receipts(in id: Conversation.ID) throws -> [UserID: Receipts] {
        if let known = receipts[id] { return known }
        let rows = try transaction.rows(
            "SELECT user, delivered, read FROM receipts WHERE conversation = \(id.bytes)"
        ) { row in
            (
                UserID(try row.text("user")),
                Receipts(
                    delivered: IntervalSet(text: try row.text("delivered")) ?? IntervalSet(),
                    read: IntervalSet(text: try row.text("read")) ?? IntervalSet())
            )
        }
        let known = Dictionary(rows) { _, last in last }
        receipts[id] = known
        return known
    }

    /// Where an unsent message is on its way: its own failure, an earlier failure of the conversation, or the request.
    private func delivery(of id: Message.ID, in conversation: Conversation.ID?) throws -> Delivery {
        let row = try transaction.first(
            """
            SELECT number, failure FROM outbox
            WHERE message = \(id.bytes) AND kind = \(OutboxKind.send.rawValue)
            """
        ) { row in (number: try row.int64("number"), failure: try row.optionalText("failure")) }
        guard let row else { return .queued }
        if let failure = row.failure { return .failed(ParleyError(stored: failure)) }
        let blocking = try transaction.first(
            """
            SELECT message FROM outbox
            WHERE conversation = \(conversation?.bytes) AND kind = \(OutboxKind.send.rawValue)
                AND failure IS NOT NULL AND number < \(row.number)
            ORDER BY number LIMIT 1
            """
        ) { row in try row.optionalBlob("message") }
        if let blocking = blocking ?? nil, let id = Message.ID(stored: blocking) {
            return .blocked(by: id)
        }
        if activity.isSending(row.number) { return .sending }
        let uploads = try transaction.first(
            """
            SELECT count(*) FILTER (WHERE status < \(TransferStatus.readyForDownload.rawValue)) AS missing,
                count(*) FILTER (WHERE status > \(TransferStatus.awaitingUpload.rawValue)
                    AND file IS NOT NULL) AS begun
            FROM parts WHERE message = \(id.bytes)
            """
        ) { row in (missing: try row.int("missing"), begun: try row.int("begun")) }
        guard let uploads, uploads.missing > 0, uploads.begun > 0 else { return .queued }
        return .uploading
    }

    private static func users(_ json: String) -> [UserID] {
        guard let document = try? JSONDocument(Array(json.utf8)) else { return [] }
        return document.root.elements.compactMap { element in element.string.map { UserID($0) } }
    }
}

extension Transaction {
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
