package import Locking
public import Messaging
public import SQL

/// Everything messages need to be remembered, over one database.
///
/// A mutation loads, lets `Messaging` decide, and records the event; when it returns, the effect is
/// on disk. Every look-up stays inside the application it names.
public struct MessagingStore: Sendable {
    private(set) var database: Access
    let environment: StoreEnvironment
    /// What conversations and messages are held to when they are made or changed.
    public let limits: MessagingLimits
    /// On whose account changes are recorded.
    private var actor: Actor?
    /// In which trace they are asked for.
    private var trace: Trace?
    let authentication: Authentication
    let runningKeys: RunningKeys
    /// Tells readers of the log how far it goes.
    public let signal: CommitSignal
    /// Tells the sender of scheduled messages what was accepted.
    let dueSignal: DueSignal
    /// Rings when a webhook has changed, or something is to be sent to one again.
    package let webhookSignal: Bell
    /// Tells how long what was read is true.
    let clock: ChangeClock

    /// A store over a database opened with ``migrations``.
    public init(
        database: Database, environment: StoreEnvironment = .live,
        limits: MessagingLimits = MessagingLimits()
    ) {
        self.database = Access(database)
        self.environment = environment
        self.limits = limits
        authentication = Authentication()
        runningKeys = RunningKeys()
        signal = CommitSignal()
        dueSignal = DueSignal()
        webhookSignal = Bell()
        clock = ChangeClock(isAlone: !database.isShared)
    }

    /// Whether other processes may work on the same database.
    public var isShared: Bool { database.isShared }

    /// The whole history of the schema.
    public static var migrations: [SchemaMigration] { Schema.migrations }

    /// The same store on another way to the database.
    func over(_ access: Access) -> MessagingStore {
        var store = self
        store.database = access
        return store
    }

    /// The same store for changes on somebody's account, which events tell of (X3).
    public func acting(as actor: Actor) -> MessagingStore {
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
        _ body: @escaping @Sendable (Recording) throws -> Value
    ) async throws -> Value {
        let now = environment.now()
        return try await database.write(prefetching: prefetch) {
            [actor, trace, environment, limits, signal, dueSignal, webhookSignal, clock]
            transaction in
            try body(
                Recording(
                    transaction: transaction, application: application, now: now, actor: actor,
                    trace: trace, limits: limits, hash: environment.sha256, signal: signal,
                    dueSignal: dueSignal, webhookSignal: webhookSignal, clock: clock))
        }
    }
}
