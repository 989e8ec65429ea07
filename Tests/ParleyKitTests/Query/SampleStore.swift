import FoundationEssentials
import Messaging
import SQL
import SystemSupport
import TestSupport

@testable import ParleyKit

typealias Conversation = ParleyKit.Conversation
typealias Message = ParleyKit.Message
typealias MessagePart = ParleyKit.MessagePart
typealias Identity = ParleyKit.Identity
typealias UserID = ParleyKit.UserID
typealias Metadata = ParleyKit.Metadata
typealias TransferStatus = ParleyKit.TransferStatus

/// A store of the user `me`, filled by SQL.
final class SampleStore: Sendable {
    let store: Store
    let activity = OutboxActivity()
    let missing = Locked<[IntervalSet]>([])
    private let folder = TemporaryFolder()

    init() async throws {
        store = try Store(
            folder: "\(folder.path)/store", onPrepare: StatementPlans.clientObserver)
        try await store.write { transaction in try transaction.set("user", "me") }
    }

    var runner: QueryRunner {
        QueryRunner(store, activity) { [missing] _, positions in
            missing.withLock { missing in missing.append(positions) }
        }
    }

    /// Runs statements, and publishes what they have changed.
    func change(
        _ tables: [Store.Table] = [], in conversations: [Conversation.ID] = [],
        noting change: ObjectChange? = nil,
        _ statements: @escaping @Sendable (StoreTransaction) throws -> Void
    ) async throws {
        try await store.write { transaction in
            try statements(transaction)
            if let change { transaction.note(change.kind, of: change.object) }
            for table in tables {
                for conversation in conversations {
                    switch table {
                    case .conversations:
                        transaction.note(.updated(property: "x"), of: .conversation(conversation))
                    case .messages:
                        transaction.note(
                            .updated(property: "x"), of: .message(messageID(0)), in: conversation)
                    case .identities: transaction.note(.created, of: .identity("x"))
                    }
                }
            }
        }
    }
}

/// The id of a conversation by a number.
func conversationID(_ number: Int) -> Conversation.ID {
    Conversation.ID(Messaging.Conversation.ID(high: 7, low: UInt64(number)))
}

/// The id of a message by a number.
func messageID(_ number: Int) -> Message.ID {
    Message.ID(Messaging.Message.ID(high: 8, low: UInt64(number)))
}

/// A time by a number of seconds.
func time(_ seconds: Int) -> Date { Date(milliseconds: Int64(seconds) * 1000) }

extension StoreTransaction {
    func addConversation(
        _ number: Int, participants: [UserID] = ["me"], isHidden: Bool = false,
        metadata: Metadata = .empty, unread: Int = 0, createdAt: Int64? = nil,
        activeAt: Int64 = 0, last: Message.ID? = nil, isDistinct: Bool = false,
        isParticipant: Bool = true
    ) throws {
        let id = conversationID(number).value.bytes
        try sql.execute(
            """
            INSERT INTO conversations (id, is_hidden, is_created, created_at, is_participant, is_distinct,
                participant_set, metadata, unread_count, total_count, last_message, active_at)
            VALUES (\(id), \(isHidden), \(createdAt != nil), \(createdAt), \(isParticipant), \(isDistinct),
                \(Self.participantSet(participants)), \(metadata.stored), \(unread), 0, \(last?.value.bytes),
                \(activeAt))
            """)
        for (place, user) in participants.enumerated() {
            try sql.execute(
                """
                INSERT INTO participants (conversation, user, place)
                VALUES (\(id), \(user.text), \(place))
                """)
        }
        for (path, text) in metadata.leaves {
            try sql.execute(
                "INSERT INTO metadata (conversation, path, text) VALUES (\(id), \(path), \(text))")
        }
    }

    func addMessage(
        _ number: Int, in conversation: Int?, position: Int64?, place: Int64? = nil,
        sender: UserID? = "me", service: String? = nil, sentAt: Int64? = nil,
        receivedAt: Int64? = nil, isUnread: Bool = false, isHidden: Bool = false
    ) throws {
        let conversation = conversation.map { number in conversationID(number).value.bytes }
        let isSent = position != nil || conversation == nil
        try sql.execute(
            """
            INSERT INTO messages (id, conversation, position, place, sender, sender_name, sent_at, received_at,
                base_unread, is_unread, is_hidden, is_sent)
            VALUES (\(messageID(number).value.bytes), \(conversation), \(position),
                \(place ?? position ?? 1 << 62 + Int64(number)), \(sender?.text), \(service), \(sentAt),
                \(receivedAt), \(isUnread), \(isUnread), \(isHidden), \(isSent))
            """)
    }

    /// Adds messages with the positions from 1 on.
    func addMessages(_ count: Int, in conversation: Int) throws {
        try sql.execute(
            """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))
            INSERT INTO messages (id, conversation, position, place)
            SELECT randomblob(16), \(conversationID(conversation).bytes), n, n FROM numbers
            """)
    }

    func addPart(
        _ index: Int, of message: Int, name: String? = nil, mimeType: String = "text/plain",
        size: Int64 = 1, body: String? = nil, status: TransferStatus = .complete
    ) throws {
        try sql.execute(
            """
            INSERT INTO parts (message, part, name, mime_type, size, body, status)
            VALUES (\(messageID(message).value.bytes), \(index), \(name ?? "p\(index)"), \(mimeType), \(size),
                \(body.map { text in Array(text.utf8) }), \(status.rawValue))
            """)
    }

    /// Makes an id that of a conversation merged into another one.
    func alias(_ former: Int, to conversation: Int) throws {
        try sql.execute(
            """
            INSERT INTO aliases (former, conversation)
            VALUES (\(conversationID(former).value.bytes), \(conversationID(conversation).value.bytes))
            """)
    }
}

// MARK: - A random store
extension SampleStore {
    /// Fills the store with about 10 conversations and 80 messages.
    func fill(seed: UInt64) async throws {
        try await store.write { transaction in
            var random = SeededGenerator(seed)
            try transaction.fillIdentities(&random)
            for number in 1...10 { try transaction.fillConversation(number, &random) }
            for number in 5000...5006 {
                try transaction.addMessage(
                    number, in: nil, position: nil, place: Int64(number),
                    sender: nil, service: random.one(of: ["News", "Admin", nil]),
                    sentAt: Int64(random.number(0...20)) * 1000, isUnread: random.once(in: 2))
                try transaction.fillParts(of: number, &random)
            }
        }
    }
}

extension StoreTransaction {
    private static let users: [UserID] = ["me", "ann", "bob", "Zoë", "x%y_z"]
    private static let texts: [String?] = ["red", "Red", "blue", "r%d", "", "héllo", nil]

    fileprivate func fillIdentities(_ random: inout SeededGenerator) throws {
        for user in Self.users where !random.once(in: 6) {
            let texts: [String?] = (0..<6).map { _ in random.one(of: Self.texts) }
            let urls: [String?] = ["https://a.example/1", "https://b.example/2", nil]
            let url: String? = random.one(of: urls)
            let isFollowed: Bool = random.once(in: 2)
            let metadata: Metadata = random.once(in: 2) ? ["a": ["b": "red"], "c": "Blue"] : [:]
            try sql.execute(
                """
                INSERT INTO identities (user, is_followed, snapshot, display_name, first_name, last_name,
                    email_address, phone_number, public_key, avatar_url, metadata)
                VALUES (\(user.text), \(isFollowed), 0, \(texts[0]), \(texts[1]), \(texts[2]), \(texts[3]),
                    \(texts[4]), \(texts[5]), \(url), \(metadata.stored))
                """)
        }
    }

    fileprivate func fillConversation(_ number: Int, _ random: inout SeededGenerator) throws {
        let last = random.once(in: 4) ? nil : messageID(number * 100 + random.below(8))
        var metadata: [String: Metadata] = [:]
        if let color = random.one(of: Self.texts) { metadata["color"] = .text(color) }
        if random.once(in: 2) { metadata["a"] = ["b": .text(random.one(of: ["red", "blue"]))] }
        try addConversation(
            number,
            participants: random.once(in: 6)
                ? [] : ["me"] + random.some(of: Array(Self.users.dropFirst())),
            isHidden: random.once(in: 6), metadata: .object(metadata), unread: random.below(3),
            createdAt: random.once(in: 4) ? nil : Int64(random.below(20)) * 1000,
            activeAt: Int64(random.below(20)) * 1000, last: last, isDistinct: random.once(in: 2),
            isParticipant: random.once(in: 2))
        for index in 0..<random.number(0...8) {
            let message = number * 100 + index
            let isService = random.once(in: 5)
            try addMessage(
                message, in: number, position: random.once(in: 5) ? nil : Int64(index + 1),
                sender: isService ? nil : random.one(of: Self.users),
                service: isService ? random.one(of: ["News", "Admin", nil]) : nil,
                sentAt: random.once(in: 6) ? nil : Int64(random.below(20)) * 1000,
                receivedAt: random.once(in: 3) ? nil : Int64(random.below(20)) * 1000,
                isUnread: random.once(in: 2), isHidden: random.once(in: 6))
            try fillParts(of: message, &random)
        }
    }

    fileprivate func fillParts(of message: Int, _ random: inout SeededGenerator) throws {
        for index in 0..<random.number(0...3) {
            let types = ["text/plain", "Text/HTML", "image/png", "image_x/png"]
            try addPart(
                index, of: message, mimeType: random.one(of: types),
                size: Int64(random.below(5)) * 1000, body: random.one(of: Self.texts),
                status: TransferStatus(rawValue: random.below(5)) ?? .complete)
        }
    }
}

// MARK: - What is shown, read without a query
extension SampleStore {
    func conversations() async throws -> [Conversation] {
        try await all("/* test */ SELECT id FROM conversations") { reader, bytes in
            guard let id = Messaging.Conversation.ID(bytes: bytes) else { return nil }
            return try reader.conversation(Conversation.ID(id))
        }
    }

    func messages() async throws -> [Message] {
        let shown = Set(try await conversations().map(\.id))
        return try await all("/* test */ SELECT id FROM messages") { reader, bytes in
            guard let id = Message.ID(stored: bytes), let message = try reader.message(id)
            else { return nil }
            return message.conversation.map(shown.contains) ?? true ? message : nil
        }
    }

    func identities() async throws -> [Identity] {
        try await store.read { [activity] transaction in
            var reader = ObjectReader(transaction, of: "me", activity)
            let users = try transaction.rows("/* test */ SELECT user FROM identities") { row in
                UserID(try row.text("user"))
            }
            return try users.map { user in try reader.identity(user) }
        }
    }

    private func all<Element: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout ObjectReader, [UInt8]) throws -> Element?
    ) async throws -> [Element] {
        try await store.read { [activity] transaction in
            var reader = ObjectReader(transaction, of: "me", activity)
            let ids = try transaction.rows(sql) { row in try row.blob("id") }
            return try ids.compactMap { bytes in try read(&reader, bytes) }
        }
    }
}
