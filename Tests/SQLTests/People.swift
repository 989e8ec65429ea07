import Dispatch
import Testing

@testable import SQL

/// A small schema for the tests: people with names.
enum People {
    static let migrations = [
        SchemaMigration(
            number: 1, name: "people",
            statements: [
                "CREATE TABLE people (id BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)"
            ])
    ]

    struct TestError: Error, Equatable {}
}

extension Database {
    static func ofPeople(_ settings: DatabaseSettings = DatabaseSettings()) throws -> Database {
        try Engine.sqlite.people(settings)
    }

    func add(_ id: Int, _ name: String) async throws {
        try await write { try $0.add(id, name) }
    }

    func names() async throws -> [String] { try await read { try $0.names() } }
}

extension Transaction {
    func add(_ id: Int, _ name: String) throws {
        try execute("INSERT INTO people (id, name) VALUES (\(id), \(name))")
    }

    func names() throws -> [String] {
        try rows("SELECT name FROM people ORDER BY id") { row in try row.text("name") }
    }
}

/// Blocks the writer in a change, so that later changes wait in its queue.
struct HeldWriter {
    private let semaphore = DispatchSemaphore(value: 0)
    private let database: Database
    private let holding: Task<Void, any Error>

    /// Returns when the writer is blocked.
    init(of database: Database) async {
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        self.database = database
        holding = Task { [semaphore] in
            try await database.write { transaction in
                // Until its rows are read, a statement may not have been sent to the server.
                _ = try transaction.names()
                signal.yield()
                semaphore.wait()
            }
        }
        var steps = reached.makeAsyncIterator()
        await steps.next()
    }

    /// Queues the changes in this order, releases the writer and returns the result of each.
    func run<Value: Sendable>(
        _ changes: (@Sendable (Transaction) throws -> Value)...
    ) async throws -> [Result<Value, any Error>] {
        try await run(all: changes)
    }

    /// Queues a numbered change many times.
    func run<Value: Sendable>(
        times count: Int, _ change: @escaping @Sendable (Transaction, Int) throws -> Value
    ) async throws -> [Result<Value, any Error>] {
        try await run(all: (0..<count).map { number in { try change($0, number) } })
    }

    private func run<Value: Sendable>(
        all changes: [@Sendable (Transaction) throws -> Value]
    ) async throws -> [Result<Value, any Error>] {
        let database = database
        var callers: [Task<Value, any Error>] = []
        for (index, change) in changes.enumerated() {
            callers.append(Task { try await database.write(change) })
            while database.writer.waiting <= index { await Task.yield() }
        }
        return try await open(for: callers)
    }

    private func open<Value: Sendable>(
        for callers: [Task<Value, any Error>]
    ) async throws -> [Result<Value, any Error>] {
        semaphore.signal()
        try await holding.value
        var results: [Result<Value, any Error>] = []
        for caller in callers { results.append(await caller.result) }
        return results
    }
}

/// Expects a fault of one kind, and returns it.
@discardableResult
func expectFault<Value>(
    _ kind: SQLError.Kind, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async -> SQLError? {
    let error = await #expect(throws: SQLError.self, sourceLocation: sourceLocation) {
        _ = try await body()
    }
    #expect(error?.kind == kind, sourceLocation: sourceLocation)
    return error
}

extension Result {
    /// The failure as a fault of the database.
    var fault: SQLError.Kind? {
        guard case .failure(let error) = self else { return nil }
        return (error as? SQLError)?.kind
    }
}

extension Array {
    /// The number of successful results.
    func successes<Value>() -> Int where Element == Result<Value, any Error> {
        count { result in (try? result.get()) != nil }
    }

    /// The fault of each result, `nil` for a success.
    func faults<Value>() -> [SQLError.Kind?] where Element == Result<Value, any Error> {
        map { result in result.fault }
    }
}
