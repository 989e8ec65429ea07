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
    /// The name of this process until it ends: eight hexadecimal digits.
    public let process: String
    /// The actor that events are recorded with; `nil` for what the server does by itself.
    private var actor: EventActor?
    /// The trace of the request; `nil` for none.
    private var trace: Trace?
    /// Receives the position of the last event of a mutation; `nil` for none.
    private var effect: RecordedEffect?
    /// The event of the server's own log that a mutation records, too; `nil` for none.
    private var auditEvent: PendingAuditEvent?
    let grantCache: GrantCache<Grant>
    let sessionCache: GrantCache<SessionGrant>
    let consoleCache: GrantCache<ConsoleGrant>
    /// Issues and checks nonces for identity tokens.
    let nonces: Nonces
    /// Identifies the history of the database; a restored backup gets another one.
    private let epochSecret: SharedSecret
    /// Identifies the database in the cookies of the console.
    let instanceSecret: SharedSecret
    /// The key of the digests of erased users.
    let erasureSecret: SharedSecret
    let runningRequests: RunningRequests
    /// Notifies readers of the event log of new events.
    public let signal: CommitSignal
    /// Notifies the sender of scheduled messages.
    let scheduleSignal: ScheduleSignal
    /// Notifies webhook workers of changed webhooks and of deliveries to repeat.
    package let webhookSignal: WakeSignal
    /// Determines whether cached messages are still valid.
    let clock: InvalidationClock

    /// Creates a store over a database that was opened with ``migrations``.
    public init(
        database: Database, environment: StoreEnvironment = .live,
        limits: MessagingLimits = MessagingLimits()
    ) {
        self.database = StoreContext(database)
        self.environment = environment
        self.limits = limits
        process = Self.newProcessID()
        grantCache = GrantCache()
        sessionCache = GrantCache()
        consoleCache = GrantCache()
        nonces = Nonces()
        epochSecret = SharedSecret("feed_epoch", size: 8)
        instanceSecret = SharedSecret("instance", size: 16)
        erasureSecret = SharedSecret("erasures", size: 32)
        runningRequests = RunningRequests()
        signal = CommitSignal(pollInterval: environment.pollInterval)
        scheduleSignal = ScheduleSignal()
        webhookSignal = WakeSignal()
        clock = InvalidationClock(isAlone: !database.isShared)
    }

    private static func newProcessID() -> String {
        let digits = String(UInt32.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Whether other processes may use the same database.
    public var isShared: Bool { database.isShared }

    /// Returns that many cryptographically random bytes.
    public func randomBytes(_ count: Int) -> [UInt8] { environment.randomBytes(count) }

    /// All schema migrations, by ascending number.
    public static var migrations: [SchemaMigration] { DatabaseSchema.migrations }

    /// A copy of the store that uses another context.
    func using(_ context: StoreContext) -> MessagingStore {
        var store = self
        store.database = context
        return store
    }

    /// A copy of the store that records events for an actor (X3).
    public func acting(as actor: EventActor) -> MessagingStore {
        var store = self
        store.actor = actor
        return store
    }

    /// A copy of the store that records events with a trace, which the requests to webhooks continue (X5).
    public func within(_ trace: Trace?) -> MessagingStore {
        var store = self
        store.trace = trace
        return store
    }

    /// A copy of the store that reports the position of the last event of a mutation (Y2).
    public func noting(_ effect: RecordedEffect) -> MessagingStore {
        var store = self
        store.effect = effect
        return store
    }

    /// A copy of the store whose mutations also record an event of the server's own log, in the same transaction, unless
    /// they change nothing.
    ///
    /// - Parameter subject: The name or id of what it is about.
    public func auditing(
        _ type: AuditEventType, subject: String? = nil, from origin: AuditOrigin
    ) -> MessagingStore {
        var store = self
        store.auditEvent = PendingAuditEvent(type: type, subject: subject, origin: origin)
        return store
    }

    /// Runs a mutation in a transaction; when this returns, its events and rows are durable.
    ///
    /// - Parameters:
    ///   - prefetch: Sends queries that the mutation will make, so that they share one round trip to a database server.
    ///   - body: May run more than once; nothing is stored when it throws.
    func change<Value: Sendable>(
        in application: Application.ID,
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ body: @escaping @Sendable (MutationContext) throws -> Value
    ) async throws -> Value {
        let now = environment.now()
        return try await database.write(prefetching: prefetch) {
            [
                actor, trace, effect, auditEvent, environment, limits, signal, scheduleSignal,
                webhookSignal, clock
            ]
            transaction in
            let effect = effect ?? auditEvent.map { _ in RecordedEffect() }
            let value = try body(
                MutationContext(
                    transaction: transaction, application: application, now: now, actor: actor,
                    trace: trace, effect: effect, limits: limits, hash: environment.sha256,
                    signal: signal,
                    scheduleSignal: scheduleSignal, webhookSignal: webhookSignal, clock: clock))
            if let auditEvent, effect?.position != nil {
                try transaction.record(
                    auditEvent.type, subject: auditEvent.subject, in: application,
                    from: auditEvent.origin, at: now)
            }
            return value
        }
    }

    /// Runs a mutation as ``change(in:prefetching:_:)`` does, and measures its transaction.
    func timedChange<Value: Sendable>(
        in application: Application.ID,
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ body: @escaping @Sendable (MutationContext) throws -> Value
    ) async throws -> (value: Value, time: TransactionTime) {
        let (value, start, hasDelayedOthers) = try await change(
            in: application, prefetching: prefetch
        ) { [database] context in
            let start = ContinuousClock.now
            let value = try body(context)
            return (value, start, database.waitingChanges > 0)
        }
        let duration = start.duration(to: .now)
        return (value, TransactionTime(duration: duration, hasDelayedOthers: hasDelayedOthers))
    }
}

/// An event of the server's own log that is recorded together with a change of an application.
private struct PendingAuditEvent: Sendable {
    let type: AuditEventType
    let subject: String?
    let origin: AuditOrigin
}

/// The position of the last event that a request has recorded.
public final class RecordedEffect: Sendable {
    private let last = Locked<LogPosition?>(nil)

    /// Creates the effect of a request that has recorded nothing yet.
    public init() {}

    /// The position; `nil` if nothing was recorded.
    public var position: LogPosition? { last.withLock { last in last } }

    /// Records an event. A mutation that is run again records its events again, so the last one counts.
    func note(_ position: LogPosition) { last.withLock { last in last = position } }
}

extension MessagingStore {
    /// Returns what identifies the history of the database in the cursors of feeds: 16 hexadecimal digits. The cursor at a
    /// position of the event log is `{epoch}.{position}`.
    ///
    /// Call it outside of the transaction of a request, because it is stored when it is first needed.
    public func epoch() async throws -> String {
        try await epochSecret.value(from: self).map { byte in
            byte < 16 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16)
        }.joined()
    }

    /// Begins another epoch in a database that was restored from a backup: its log continues at positions that named
    /// other changes before, so clients with a cursor of the former epoch receive everything again (Y1).
    public func beginEpoch() async throws { try await epochSecret.renew(in: self) }

    /// Returns the position of the last event of a request, or the end of the log if it has recorded none (Y2).
    public func position(
        of effect: RecordedEffect, in application: Application.ID
    ) async throws -> LogPosition {
        if let recorded = effect.position { return recorded }
        return try await database.read { transaction in
            try transaction.endOfLog(in: application)
        }
    }
}

/// How the store reaches the database: with a transaction for each call, or in the open transaction of a request.
struct StoreContext: Sendable {
    private enum Mode: Sendable {
        /// Each call runs in its own transaction.
        case shared(Database)
        /// All calls run in one open transaction.
        case inline(InlineTransaction)
    }

    private let mode: Mode
    /// Checked before the first query of a request with an idempotency key.
    private let idempotencyGuard: IdempotencyGuard?

    /// A context in which each call runs in its own transaction.
    init(_ database: Database) { self.init(.shared(database), nil) }

    private init(_ mode: Mode, _ idempotencyGuard: IdempotencyGuard?) {
        self.mode = mode
        self.idempotencyGuard = idempotencyGuard
    }

    /// Changes queued for the next transaction; 0 inside an open transaction.
    var waitingChanges: Int {
        switch mode {
        case .shared(let database): database.waitingChanges
        case .inline: 0
        }
    }

    /// The same context, in which the first query of a request checks its idempotency key.
    func guarded(by idempotencyGuard: IdempotencyGuard) -> StoreContext {
        StoreContext(mode, idempotencyGuard)
    }

    /// A context inside an open transaction.
    static func within(_ inline: InlineTransaction, guardedBy idempotencyGuard: IdempotencyGuard)
        -> StoreContext
    {
        StoreContext(.inline(inline), idempotencyGuard)
    }

    /// See `Database.read`.
    nonisolated(nonsending) func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        switch mode {
        case .shared(let database): try await database.read(guarded(body))
        case .inline(let inline): try inline.run(guarded(body))
        }
    }

    /// See `Database.write`.
    nonisolated(nonsending) func write<Value: Sendable>(
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ change: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        switch mode {
        case .shared(let database):
            try await database.write(prefetching: prefetch, guarded(change))
        case .inline(let inline): try inline.run(guarded(change))
        }
    }

    /// See `Database.isShared`.
    var isShared: Bool {
        switch mode {
        case .shared(let database): database.isShared
        // Notifications are not received inside a transaction.
        case .inline: false
        }
    }

    /// See `Database.listen`.
    func listen(_ receive: @escaping @Sendable (ChangeNotification) -> Void) {
        switch mode {
        case .shared(let database): database.listen(receive)
        // Notifications are not received inside a transaction.
        case .inline: break
        }
    }

    private func guarded<Value>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) -> @Sendable (Transaction) throws -> Value {
        guard let idempotencyGuard else { return body }
        return { transaction in
            try idempotencyGuard.check(transaction)
            return try body(transaction)
        }
    }
}
