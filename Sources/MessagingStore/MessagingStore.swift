public import Messaging
public import SQL
package import SystemSupport

/// Everything messages need to be remembered, over one database.
///
/// A mutation loads, lets `Messaging` decide, and records the event; when it returns, the effect is
/// on disk. Every look-up stays inside the application it names.
public struct MessagingStore: Sendable {
    private(set) var database: StoreContext
    let environment: StoreEnvironment
    /// What conversations and messages are held to when they are made or changed.
    public let limits: MessagingLimits
    /// On whose account changes are recorded.
    private var actor: EventActor?
    /// In which trace they are asked for.
    private var trace: Trace?
    let grantCache: GrantCache
    let runningRequests: RunningRequests
    /// Tells readers of the log how far it goes.
    public let signal: CommitSignal
    /// Tells the sender of scheduled messages what was accepted.
    let scheduleSignal: ScheduleSignal
    /// Rings when a webhook has changed, or something is to be sent to one again.
    package let webhookSignal: WakeSignal
    /// Tells how long what was read is true.
    let clock: InvalidationClock

    /// A store over a database opened with ``migrations``.
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

    /// Whether other processes may work on the same database.
    public var isShared: Bool { database.isShared }

    /// The whole history of the schema.
    public static var migrations: [SchemaMigration] { DatabaseSchema.migrations }

    /// The same store on another way to the database.
    func over(_ access: StoreContext) -> MessagingStore {
        var store = self
        store.database = access
        return store
    }

    /// The same store for changes on somebody's account, which events tell of (X3).
    public func acting(as actor: EventActor) -> MessagingStore {
        var store = self
        store.actor = actor
        return store
    }

    /// The same store for changes that are asked for in a trace, in which webhooks are told of them (X5).
    public func within(_ trace: Trace?) -> MessagingStore {
        var store = self
        store.trace = trace
        return store
    }

    /// Runs a mutation with what it needs to load and to record.
    ///
    /// - Parameter prefetch: Asks what the mutation is going to ask.
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

/// The way of the store's functions to the database.
struct StoreContext: Sendable {
    private enum Way: Sendable {
        /// Each read and each change is a transaction of its own.
        case shared(Database)
        /// All of them are part of one.
        case lent(InlineTransaction)
    }

    private let way: Way
    /// Asked before anything else is, for a request with a key.
    private let watch: IdempotencyGuard?

    /// Everybody's way.
    init(_ database: Database) { self.init(.shared(database), nil) }

    private init(_ way: Way, _ watch: IdempotencyGuard?) {
        self.way = way
        self.watch = watch
    }

    /// The same way for a request with a key.
    func watched(by watch: IdempotencyGuard) -> StoreContext { StoreContext(way, watch) }

    /// The way inside a transaction that runs.
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
        // Whoever lent it knows.
        case .lent: false
        }
    }

    /// See `Database.listen`.
    func listen(_ hear: @escaping @Sendable (ChangeNotification) -> Void) {
        switch way {
        case .shared(let database): database.listen(hear)
        // Nobody listens in the midst of a change.
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
