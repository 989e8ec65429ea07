/// What a connection is told when it begins.
struct PostgresSession {
    /// How long the server may work on a statement; `nil` for as long as it takes.
    let statementTimeout: Duration?
    /// How long it may wait for somebody else's lock.
    let lockTimeout: Duration
    /// How long it waits for the next statement of a change.
    let idleTimeout: Duration

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

    /// Ten processes may start at once: one migrates, and the others wait for it.
    static let migrating = PostgresSession(
        statementTimeout: nil, lockTimeout: .seconds(600), idleTimeout: .seconds(60))

    /// Sets what the session needs, and tells what durability depends on.
    var opening: SQL {
        PostgresDialect.session(
            // 0 is for ever, and whoever says "not at all" is told so after a millisecond.
            statement: statementTimeout.map(Self.milliseconds) ?? 0,
            lock: Self.milliseconds(lockTimeout), idle: Self.milliseconds(idleTimeout))
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        max(Int64(clamping: Int(duration / .milliseconds(1))), 1)
    }
}
