import SQL

/// The options of a session.
struct PostgresSession {
    /// The time limit of a statement; `nil` for none.
    private let statementTimeout: Duration?
    /// The time limit for waiting for a lock.
    private let lockTimeout: Duration
    /// The time limit between two statements of a transaction.
    private let idleTimeout: Duration

    init(_ settings: DatabaseSettings) {
        statementTimeout = settings.statementTimeout
        lockTimeout = settings.busyTimeout
        idleTimeout = settings.idleTimeout
    }

    private init(statementTimeout: Duration?, lockTimeout: Duration, idleTimeout: Duration) {
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleTimeout = idleTimeout
    }

    /// Ten processes may start at once: one migrates, the others wait for its lock.
    static let migrating = PostgresSession(
        statementTimeout: nil, lockTimeout: .seconds(600), idleTimeout: .seconds(60))

    /// Sets the options, and selects the settings that durability depends on.
    var opening: SQL {
        PostgresDialect.session(
            // 0 means no limit; the smallest limit is 1 ms.
            statement: statementTimeout.map(Self.milliseconds) ?? 0,
            lock: Self.milliseconds(lockTimeout), idle: Self.milliseconds(idleTimeout))
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        max(Int64(clamping: Int(duration / .milliseconds(1))), 1)
    }
}

/// The delay before the next attempt to reach a server: 0.1 s, doubled up to 2 s, reduced by a random part so
/// that processes do not reconnect at the same moment.
struct ReconnectDelay {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(2)

    private var next = first
    private var last: (failure: SQLError, end: ContinuousClock.Instant)?

    /// The last failure while the delay lasts; `nil` when an attempt is due.
    func failure(at now: ContinuousClock.Instant) -> SQLError? {
        last.flatMap { last in now < last.end ? last.failure : nil }
    }

    /// Records a failure.
    mutating func grow(at now: ContinuousClock.Instant, after failure: SQLError) {
        last = (failure, now + next * Double.random(in: 0.5...1))
        next = min(next * 2, Self.longest)
    }

    /// Records a success.
    mutating func reset() { self = ReconnectDelay() }
}
