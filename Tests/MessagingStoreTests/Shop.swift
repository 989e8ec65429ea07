import Locking
import Messaging
import SQL

@testable import MessagingStore

/// A store with one application, and a clock that stands until it is told to go on.
final class Shop: Sendable {
    let location: DatabaseLocation
    let database: Database
    let store: MessagingStore
    let application: Application.ID
    private let time: Locked<Int64>
    /// Whether nobody else opens its database.
    private let isAlone: Bool

    /// - Parameter isEmpty: Whether the application is still to come.
    init(
        at known: DatabaseLocation? = nil, opening application: Application.ID? = nil,
        isEmpty: Bool = false
    ) async throws {
        let time = Locked<Int64>(1_000_000)
        self.time = time
        location = known ?? .scratch()
        isAlone = known == nil
        database = try Database.open(location, migrations: MessagingStore.migrations)
        store = MessagingStore(
            database: database,
            environment: StoreEnvironment(
                now: { Timestamp(milliseconds: time.withLock { time in time }) },
                randomBytes: StoreEnvironment.live.randomBytes,
                sha256: StoreEnvironment.live.sha256))
        if isEmpty, let application {
            self.application = application
        } else {
            self.application = try await store.createApplication(name: "Shop", id: application).id
        }
    }

    deinit {
        database.close()
        if isAlone { location.clear() }
    }

    /// Lets the clock go on.
    func wait(milliseconds: Int64) {
        time.withLock { time in time += milliseconds }
    }

    /// Lets the clock go on by a second, and tells the time.
    @discardableResult
    func tick() -> Timestamp {
        wait(milliseconds: 1000)
        return store.environment.now()
    }

    /// Every row of every table but some, as text.
    func rows(except left: Set<String> = ["schema_migrations"]) async throws -> [String] {
        try await Self.rows(of: database, except: left)
    }

    static func rows(of database: Database, except left: Set<String>) async throws -> [String] {
        try await database.read { transaction in
            let tables = try transaction.tables()
            return try tables.filter { table in !left.contains(table) }.flatMap { table in
                let columns = try transaction.columns(of: table)
                return try transaction.rows(SQL(stringLiteral: "SELECT * FROM \(table)")) { row in
                    var values: [String] = []
                    for column in columns {
                        values.append("\(column): \(try row.value(.name(column)))")
                    }
                    return "\(table) \(values)"
                }.sorted()
            }
        }
    }

    /// All events of the application.
    func events() async throws -> [RecordedEvent] {
        try await store.events(after: .start, limit: 10_000, in: application)
    }

    /// The place of the last event.
    func end() async throws -> LogPosition { try await store.logExtent(in: application).end }

    /// The kinds of events an action caused.
    func kinds(causedBy action: () async throws -> Void) async throws -> [String] {
        let before = try await events().count
        try await action()
        return try await events().dropFirst(before).map(\.event.kind)
    }
}
