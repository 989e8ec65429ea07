import Messaging
public import SQL

/// Everything messages need to be remembered, over one database.
///
/// A mutation loads, lets `Messaging` decide, and records the event; when it returns, the effect is
/// on disk. Every look-up stays inside the application it names.
public struct MessagingStore: Sendable {
    let database: Database
    let environment: StoreEnvironment
    let authentication: Authentication
    /// Tells readers of the log how far it goes.
    public let signal: CommitSignal

    /// A store over a database opened with ``migrations``.
    public init(database: Database, environment: StoreEnvironment = .live) {
        self.database = database
        self.environment = environment
        authentication = Authentication()
        signal = CommitSignal()
    }

    /// The whole history of the schema.
    public static var migrations: [Migration] { Schema.migrations }

    /// Runs a mutation with what it needs to load and to record.
    func change<Value: Sendable>(
        in application: Application.ID,
        _ body: @escaping @Sendable (Recording) throws -> Value
    ) async throws -> Value {
        let now = environment.now()
        return try await database.write { [environment, signal] transaction in
            try body(
                Recording(
                    transaction: transaction, application: application, now: now,
                    hash: environment.sha256, signal: signal))
        }
    }
}
