public import Messaging
public import SQL
package import SystemSupport

/// Stores applications, users, conversations and messages in one database.
///
/// A mutation loads what it needs, lets `Messaging` decide, and records the resulting event; when it returns,
/// the effect is durable. Every query is limited to one application.
public struct MessagingStore: Sendable {
    private(set) var database: StoreContext
    let environment: StoreEnvironment
    /// The limits that conversations and messages are validated against.
    public let limits: MessagingLimits
    /// The actor that events are recorded for.
    private var actor: EventActor?
    /// The trace of the request.
    private var trace: Trace?
    let grantCache: GrantCache
    let runningRequests: RunningRequests
    /// Notifies readers of the event log of new events.
    public let signal: CommitSignal
    /// Notifies the sender of scheduled messages.
    let scheduleSignal: ScheduleSignal
    /// Notifies webhook workers of changed webhooks and of deliveries to repeat.
    package let webhookSignal: WakeSignal
    /// Tells whether cached messages are still valid.
    let clock: InvalidationClock

    /// Creates a store over a database that was opened with ``migrations``.
    public init(
        database: Database, environment: StoreEnvironment = .live,
        limits: MessagingLimits = MessagingLimits()
    ) {
        self.database = StoreContext(database)
        self.environment = environment
        self.limits = limits
        grantCache = GrantCache()
        runningRequests = RunningRequests()
        signal = CommitSignal()
        scheduleSignal = ScheduleSignal()
        webhookSignal = WakeSignal()
        clock = InvalidationClock(isAlone: !database.isShared)
    }

    /// Whether other processes may use the same database.
    public var isShared: Bool { database.isShared }

    /// All schema migrations, by ascending number.
    public static var migrations: [SchemaMigration] { DatabaseSchema.migrations }

    /// A copy of the store that uses another context.
    func over(_ access: StoreContext) -> MessagingStore {
        var store = self
        store.database = access
        return store
    }

    /// A copy of the store that records events for an actor (X3).
    public func acting(as actor: EventActor) -> MessagingStore {
        var store = self
        store.actor = actor
        return store
    }

    /// A copy of the store that records events in a trace, which webhooks are sent with (X5).
    public func within(_ trace: Trace?) -> MessagingStore {
        var store = self
        store.trace = trace
        return store
    }

    /// Runs a mutation.
    ///
    /// - Parameter prefetch: Sends the queries that the mutation will make.
    func change<Value: Sendable>(
        in application: Application.ID,
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ body: @escaping @Sendable (MutationContext) throws -> Value
    ) async throws -> Value {
        let now = environment.now()
        return try await database.write(prefetching: prefetch) {
            [actor, trace, environment, limits, signal, scheduleSignal, webhookSignal, clock]
            transaction in
            try body(
                MutationContext(
                    transaction: transaction, application: application, now: now, actor: actor,
                    trace: trace, limits: limits, hash: environment.sha256, signal: signal,
                    scheduleSignal: scheduleSignal, webhookSignal: webhookSignal, clock: clock))
        }
    }
}

/// The database, or the open transaction that all calls of a request share.
struct StoreContext: Sendable {
    private enum Way: Sendable {
        /// Each read and each change runs in its own transaction.
        case shared(Database)
        /// All calls run in one open transaction.
        case lent(InlineTransaction)
    }

    private let way: Way
    /// Checked before the first query of a request with an idempotency key.
    private let watch: IdempotencyGuard?

    /// A context in which each call runs in its own transaction.
    init(_ database: Database) { self.init(.shared(database), nil) }

    private init(_ way: Way, _ watch: IdempotencyGuard?) {
        self.way = way
        self.watch = watch
    }

    /// The same context for a request with an idempotency key.
    func watched(by watch: IdempotencyGuard) -> StoreContext { StoreContext(way, watch) }

    /// A context inside an open transaction.
    static func within(_ sitting: InlineTransaction, watchedBy watch: IdempotencyGuard)
        -> StoreContext
    {
        StoreContext(.lent(sitting), watch)
    }

    /// See `Database.read`.
    nonisolated(nonsending) func read<Value: Sendable>(
        _ look: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        switch way {
        case .shared(let database): try await database.read(watched(look))
        case .lent(let sitting): try sitting.run(watched(look))
        }
    }

    /// See `Database.write`.
    nonisolated(nonsending) func write<Value: Sendable>(
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ change: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        switch way {
        case .shared(let database):
            try await database.write(prefetching: prefetch, watched(change))
        case .lent(let sitting): try sitting.run(watched(change))
        }
    }

    /// See `Database.isShared`.
    var isShared: Bool {
        switch way {
        case .shared(let database): database.isShared
        // Notifications are not received inside a transaction.
        case .lent: false
        }
    }

    /// See `Database.listen`.
    func listen(_ hear: @escaping @Sendable (ChangeNotification) -> Void) {
        switch way {
        case .shared(let database): database.listen(hear)
        // Notifications are not received inside a transaction.
        case .lent: break
        }
    }

    private func watched<Value>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) -> @Sendable (Transaction) throws -> Value {
        guard let watch else { return body }
        return { transaction in
            try watch.check(transaction)
            return try body(transaction)
        }
    }
}
