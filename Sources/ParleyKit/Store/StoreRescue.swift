internal import Blobs
public import FoundationEssentials
internal import Messaging
internal import SQL
internal import SystemSupport

extension ParleyClient {
    /// Replaces the damaged database of a store by a new one with the commands that can still be read: messages that were not
    /// sent, with their files, and other commands that the server has not answered. Everything else comes from the server
    /// when the next client connects.
    ///
    /// Call it when a store throws `storeCorrupt`, after the client was closed. A sound store is replaced too.
    ///
    /// - Returns: How many commands were kept.
    /// - Throws: `storeInUse`; `storeTooNew`, after which the store is as before; `diskFull` or `storeUnavailable`.
    @discardableResult
    public static func rescue(store: URL) async throws(ParleyError) -> Int {
        let rescue = try StoreRescue(folder: store.path)
        return try await rescue.run()
    }
}

/// Replaces the database of a store by a new one with what can still be read of its outbox (K20).
struct StoreRescue {
    private let folder: String
    private let lock: Locked<FolderLock?>

    init(folder: String) throws(ParleyError) {
        self.folder = folder
        lock = Locked(try Store.lock(folder))
        try Self.complete(in: folder)
    }

    /// - Returns: How many commands were kept.
    func run() async throws(ParleyError) -> Int {
        defer { lock.withLock { lock in lock = nil } }
        let path = Store.database(in: folder)
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        let user = try await sessionStorage(in: folder).read()?.user
        let salvage = try DamagedDatabase(path).read(userOfSession: user)
        let new = "\(folder)/rescue.sqlite"
        do {
            try Self.remove(new)
            let database = try Database.open(file: new, migrations: StoreSchema.migrations)
            defer { database.close() }
            try await database.write { sql in
                let transaction = StoreTransaction(sql)
                try salvage.store(in: transaction)
                _ = try transaction.finish()
            }
        } catch {
            throw ParleyError(storeError: error)
        }
        try Self.change {
            try FileManager.default.moveItem(atPath: new, toPath: Self.rescued(in: folder))
        }
        try Self.complete(in: folder)
        return salvage.commands.count
    }

    private static func rescued(in folder: String) -> String { "\(folder)/rescued.sqlite" }

    /// Puts a complete new database in the place of the damaged one, also when the process has ended meanwhile. The log of
    /// the damaged database goes first: SQLite would apply it to the new one.
    static func complete(in folder: String) throws(ParleyError) {
        let (rescued, path) = (rescued(in: folder), Store.database(in: folder))
        guard FileManager.default.fileExists(atPath: rescued) else { return }
        try change {
            try remove(path)
            try FileManager.default.moveItem(atPath: rescued, toPath: path)
        }
    }

    /// Deletes the files of a database.
    private static func remove(_ path: String) throws {
        for file in ["\(path)-wal", "\(path)-shm", path]
        where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }

    private static func change(_ body: () throws -> Void) throws(ParleyError) {
        do {
            try body()
        } catch {
            throw ParleyError(
                .storeUnavailable, "The files of the store cannot be changed: \(error).")
        }
    }
}

/// A database of which some pages may be damaged. Each row is read by a statement of its own.
private struct DamagedDatabase {
    /// `nil` if nothing can be read.
    private let connection: (any Connection)?

    init(_ path: String) throws(ParleyError) {
        do throws(SQLError) {
            connection = try Database.connection(readingFrom: path, DatabaseSettings())
        } catch {
            guard error.isDamage else { throw ParleyError(storeError: error) }
            connection = nil
        }
    }

    /// - Parameter user: The user of the store's session, if the database does not say any more whose it is.
    /// - Throws: `storeTooNew` if a newer version has written it.
    func read(userOfSession user: UserID?) throws(ParleyError) -> Salvage {
        let known = StoreSchema.migrations.last?.number ?? 0
        if let newest: Int = first(
            "SELECT max(number) AS n FROM schema_migrations", { try $0.int("n") }),
            newest > known
        {
            throw ParleyError(
                .storeTooNew, "The store was written by another version, with schema \(newest).")
        }
        var salvage = Salvage()
        for name in ["user", "history", "device"] {
            salvage.settings[name] = first("SELECT value FROM settings WHERE name = \(name)") {
                try $0.text("value")
            }
        }
        salvage.settings["user"] = salvage.settings["user"] ?? user?.text
        // Commands of an unknown user could be sent as those of another one.
        guard salvage.settings["user"] != nil else { return Salvage() }
        for number in numbers() {
            guard let command = command(number) else { continue }
            salvage.commands.append(command)
        }
        return salvage
    }

    /// The numbers of the outbox up to the first damaged page, from both ends.
    private func numbers() -> [Int64] {
        var found: Set<Int64> = []
        var last: Int64?
        func note(_ number: Int64?) -> Bool {
            last = number
            return number.map { number in found.insert(number).inserted } ?? false
        }
        while note(
            first(
                "SELECT number FROM outbox WHERE number > \(last ?? .min) ORDER BY number LIMIT 1"
            ) {
                try $0.int64("number")
            })
        {}
        last = nil
        while note(
            first(
                "SELECT number FROM outbox WHERE number < \(last ?? .max) ORDER BY number DESC LIMIT 1"
            ) { try $0.int64("number") })
        {}
        return found.sorted()
    }

    /// A command with what belongs to it; `nil` if that cannot be read, the server has answered it, or it is not needed.
    private func command(_ number: Int64) -> Salvage.Command? {
        guard let row = row(Salvage.outbox, "number = \(number)"),
            row[Salvage.outbox.index(of: "answered_position")] == .null,
            case .text(let text) = row[Salvage.outbox.index(of: "kind")],
            let kind = OutboxKind(rawValue: text),
            case .blob(let payload) = row[Salvage.outbox.index(of: "payload")]
        else { return nil }
        var command = Salvage.Command(
            row: row, kind: kind,
            conversation: row[Salvage.outbox.index(of: "conversation")].id.flatMap {
                Conversation.ID(stored: $0)
            })
        switch kind {
        // The next feed says what was delivered.
        case .delivery: return nil
        case .create: guard (try? OutboxPayload.conversation(payload)) != nil else { return nil }
        case .patch: guard (try? OutboxPayload.patches(payload)) != nil else { return nil }
        case .read, .markAllRead:
            for id in ids(
                "SELECT id FROM messages WHERE read_by = \(number) AND read_by > 0")
            {
                command.messages += message(id).map { [$0] } ?? []
            }
            // Up to a position of an earlier state nothing can be marked, but the messages here can (K31).
            guard !command.messages.isEmpty else { return nil }
            command.row[Salvage.outbox.index(of: "kind")] = .text(OutboxKind.read.rawValue)
            command.row[Salvage.outbox.index(of: "payload")] = .blob([])
        case .send, .deleteMessage, .announcementRead:
            guard let id = row[Salvage.outbox.index(of: "message")].id, let message = message(id),
                kind != .send || !message.parts.isEmpty
            else { return nil }
            command.messages = [message]
        case .deleteConversation, .leave, .follow, .unfollow, .registerPush, .unregisterPush: break
        }
        return command
    }

    private func message(_ id: [UInt8]) -> Salvage.Message? {
        guard let row = row(Salvage.messages, "id = \(id)") else { return nil }
        var parts: [[SQLValue]] = []
        while let part = self.row(Salvage.parts, "message = \(id) AND part = \(parts.count)") {
            parts.append(part)
        }
        let count: Int? = first("SELECT count(*) AS n FROM parts WHERE message = \(id)") {
            try $0.int("n")
        }
        guard count == parts.count else { return nil }
        return Salvage.Message(row: row, parts: parts)
    }

    // MARK: - Statements

    private func row(_ table: Salvage.Table, _ condition: SQL) -> [SQLValue]? {
        first("SELECT \(table.columns) FROM \(raw: table.name) WHERE \(condition)") { row in
            try table.names.indices.map { index in try row.value(.index(index)) }
        }
    }

    private func ids(_ sql: SQL) -> [[UInt8]] {
        (try? connection?.read { transaction in
            try transaction.rows(sql) { row in try row.blob("id") }
        }) ?? []
    }

    /// The value of the first row; `nil` if there is none, or it cannot be read.
    private func first<Value>(_ sql: SQL, _ make: (borrowing Row) throws -> Value) -> Value? {
        try? connection?.read { transaction in try transaction.first(sql, make) }
    }
}

/// What was read of a damaged store.
private struct Salvage: Sendable {
    /// The columns of a table.
    struct Table: Sendable {
        let name: StaticString
        let names: [StaticString]

        var columns: SQL {
            names.dropFirst().reduce("\(raw: names[0])") { list, name in "\(list), \(raw: name)" }
        }

        func index(of name: String) -> Int {
            names.firstIndex { known in known.description == name } ?? 0
        }
    }

    static let outbox = Table(
        name: "outbox",
        names: [
            "number", "lane", "kind", "conversation", "message", "payload", "key", "created_at",
            "sent_at", "failure", "may_be_overtaken", "answered_position",
        ])
    static let messages = Table(
        name: "messages",
        names: [
            "id", "conversation", "position", "place", "sender", "sender_name", "sent_at",
            "received_at", "recipients", "base_unread", "read_by", "is_unread", "is_hidden",
            "is_sent",
        ])
    static let parts = Table(
        name: "parts",
        names: [
            "message", "part", "name", "mime_type", "size", "body", "content", "status", "file",
            "accessed_at", "upload_url", "held", "etag", "wanted", "is_paused",
        ])

    struct Message: Sendable {
        let row: [SQLValue]
        let parts: [[SQLValue]]
    }

    struct Command: Sendable {
        var row: [SQLValue]
        let kind: OutboxKind
        let conversation: Conversation.ID?
        var messages: [Message] = []
    }

    var settings: [String: String] = [:]
    var commands: [Command] = []

    /// Stores it in a new database. A row that does not fit in is left out.
    func store(in transaction: StoreTransaction) throws {
        let sql = transaction.sql
        for (name, value) in settings { try transaction.set(name, value) }
        for command in commands {
            if let id = command.conversation {
                try transaction.insertConversation(id)
                transaction.touch(id)
            }
            try sql.insert(command.row, into: Self.outbox)
            for message in command.messages {
                try sql.insert(message.row, into: Self.messages)
                for part in message.parts { try sql.insert(part, into: Self.parts) }
            }
        }
    }
}

extension Transaction {
    fileprivate func insert(_ row: [SQLValue], into table: Salvage.Table) throws {
        try execute(
            "INSERT OR IGNORE INTO \(raw: table.name) (\(table.columns)) VALUES \(rows: [row])")
    }
}

extension SQLValue {
    /// The bytes of an id.
    fileprivate var id: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
}

extension SQLError {
    /// Whether it says that the file is damaged.
    fileprivate var isDamage: Bool { [.corrupt, .notADatabase].contains(kind) }
}
