import Messaging
import SQL
import SQLPostgres
import SystemSupport
import TestSupport
import Testing

@testable import MessagingStore

/// A store with one application, and a clock that the test advances.
final class SampleApplication: Sendable {
    let database: Database
    let store: MessagingStore
    let application: Application.ID
    private let time: Locked<Int64>
    private let place: TestDatabase

    /// - Parameter isEmpty: Whether the application is not created, for an import.
    convenience init(
        at known: DatabaseLocation? = nil, opening application: Application.ID? = nil,
        isEmpty: Bool = false, limits: MessagingLimits = MessagingLimits()
    ) async throws {
        try await self.init(
            TestDatabase(at: known), opening: application, isEmpty: isEmpty, limits: limits)
    }

    /// Another application in the database of a fixture.
    convenience init(beside other: SampleApplication) async throws {
        try await self.init(other.place, opening: nil, isEmpty: false)
    }

    private init(
        _ place: TestDatabase, opening application: Application.ID?, isEmpty: Bool,
        limits: MessagingLimits = MessagingLimits()
    ) async throws {
        let time = Locked<Int64>(1_000_000)
        self.time = time
        self.place = place
        var settings = DatabaseSettings()
        // Another process of the same test may be stalled while it holds the lock.
        settings.busyTimeout = .seconds(120)
        settings.onPrepare = StatementPlans.server.observer { flaw in
            Issue.record(Comment(rawValue: flaw))
        }
        database = try Database.open(
            place.location, migrations: MessagingStore.migrations, settings: settings)
        store = MessagingStore(
            database: database,
            environment: StoreEnvironment(
                now: { Timestamp(milliseconds: time.withLock { time in time }) },
                randomBytes: StoreEnvironment.live.randomBytes,
                sha256: StoreEnvironment.live.sha256), limits: limits)
        if isEmpty, let application {
            self.application = application
        } else {
            self.application = try await store.createApplication(name: "Shop", id: application).id
        }
    }

    deinit { place.schema?.release { [database] in database.close() } }

    /// Advances the clock.
    func wait(milliseconds: Int64) {
        time.withLock { time in time += milliseconds }
    }

    /// Advances the clock by a second, and returns the time.
    @discardableResult
    func tick() -> Timestamp {
        wait(milliseconds: 1000)
        return store.environment.now()
    }

    /// Every row of all tables except some, as text.
    func rows(except excluded: Set<String> = ["schema_migrations"]) async throws -> [String] {
        try await Self.rows(of: database, except: excluded)
    }

    static func rows(of database: Database, except excluded: Set<String>) async throws -> [String] {
        try await database.read { transaction in
            let tables = try transaction.tables()
            return try tables.filter { table in !excluded.contains(table) }.flatMap { table in
                let columns = try transaction.columns(of: table)
                return try transaction.rows(SQL(stringLiteral: "/* test */ SELECT * FROM \(table)"))
                { row in
                    var text = table
                    for (index, column) in columns.enumerated() {
                        text += " " + column + ": " + Self.text(of: try row.value(.index(index)))
                    }
                    return text
                }.sorted()
            }
        }
    }

    /// The type and the value; its description would take most of the time of these tests.
    private static func text(of value: SQLValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "integer " + String(number)
        case .text(let text): "text " + text
        case .blob(let bytes): "blob " + hexadecimal(bytes)
        case .array: "array"
        }
    }

    /// All events of the application.
    func events() async throws -> [RecordedEvent] {
        try await store.events(after: .start, limit: 10_000, in: application)
    }

    /// The position of the last event.
    func end() async throws -> LogPosition { try await store.logExtent(in: application).end }

    /// The kinds of events an action caused.
    func kinds(causedBy action: () async throws -> Void) async throws -> [String] {
        let before = try await events().count
        try await action()
        return try await events().dropFirst(before).map(\.event.type.rawValue)
    }
}

extension UserID {
    static let ana = UserID.named("ana")
    static let bo = UserID.named("bo")
    static let cy = UserID.named("cy")

    /// A user id for a name, which must be valid.
    static func named(_ name: String) -> UserID {
        UserID(name) ?? .ana
    }
}

extension Identifier {
    /// The same identifier for the same number.
    static func sample(_ number: UInt128) -> Identifier {
        .v7(at: Timestamp(milliseconds: 0), random: number)
    }
}

extension VersionPrecondition {
    /// The first version of every object.
    static let one = VersionPrecondition { version in version == 1 }
}

// Shorthands for frequent actions.
extension SampleApplication {
    @discardableResult
    func create(
        _ users: [UserID] = [.ana, .bo], isDistinct: Bool = false, metadata: MetadataTree? = nil,
        id: Conversation.ID? = nil, key: Replay.Key? = nil
    ) async throws -> CreationOutcome<ConversationSnapshot> {
        try await store.createConversation(
            Conversation.Draft(
                participants: users, isDistinct: isDistinct, metadata: metadata, proposedID: id,
                store.limits),
            key: key, in: application)
    }

    /// A new conversation.
    @discardableResult
    func conversation(
        _ users: [UserID] = [.ana, .bo], metadata: MetadataTree? = nil
    ) async throws -> Conversation.ID {
        try await create(users, metadata: metadata).object.conversation.id
    }

    @discardableResult
    func send(
        _ text: String = "hello", by user: UserID = .ana, to conversation: Conversation.ID,
        id: Message.ID? = nil, key: Replay.Key? = nil
    ) async throws -> CreationOutcome<MessageSnapshot> {
        try await store.sendMessage(
            Message.Draft(
                sender: .user(user),
                parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))],
                proposedID: id),
            to: conversation, key: key, in: application)
    }

    @discardableResult
    func patch(
        _ conversation: Conversation.ID, _ patches: ConversationPatch...
    ) async throws -> ConversationSnapshot {
        try await store.patchConversation(conversation, patches, in: application)
    }

    func read(_ conversation: Conversation.ID) async throws -> ConversationSnapshot {
        try await store.conversation(conversation, in: application)
    }

    /// How a user sees the first conversation of their list.
    func view(of user: UserID) async throws -> ConversationView {
        let page = try await store.conversations(of: user, limit: 1, in: application)
        guard let view = page.items.first else { throw Rejection.notFound(.conversation) }
        return view
    }

    /// The texts of a conversation, newest first.
    func texts(of conversation: Conversation.ID) async throws -> [String] {
        try await store.messages(in: conversation, limit: 100, in: application).items.map(\.text)
    }

    func content(_ number: UInt128, size: Int64, in conversation: Conversation.ID?) -> Content {
        Content(
            id: .sample(number), conversation: conversation, mimeType: "image/png", size: size,
            fileName: "cat.png", sha256: [1, 2], crc32c: .max, md5: nil, sha512: [3, 4],
            completedAt: store.environment.now(), origin: nil)
    }

    @discardableResult
    func upload(
        _ number: UInt128 = 1, size: Int64 = 5, to conversation: Conversation.ID?,
        by user: UserID? = nil
    ) async throws -> Content {
        let content = content(number, size: size, in: conversation)
        try await store.finishUpload(content, by: Perspective(user), in: application)
        return content
    }

    @discardableResult
    func attach(
        _ content: Content.ID, to conversation: Conversation.ID, claiming size: Int64 = 5
    ) async throws -> MessageSnapshot {
        try await store.sendMessage(
            Message.Draft(
                sender: .service("Billing"),
                parts: [
                    MessagePart.Draft(
                        mimeType: "image/png", body: .content(content, size: size))
                ]),
            to: conversation, in: application
        ).object
    }
}

extension MessageSnapshot {
    /// The first part as text.
    var text: String {
        guard case .inline(let bytes) = message.parts.first?.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
