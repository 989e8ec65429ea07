import SQL
import SystemSupport

/// The exclusive right of one process to do a kind of work.
///
/// The holder increments a number every 5 seconds. Another process may take the lease after it has seen the
/// same number for 15 seconds. Each process uses only its own monotonic clock, so differences between clocks
/// have no effect, and the lease of a crashed holder is free within 15 seconds.
///
/// A holder that was suspended for longer learns at its next renewal that it has lost the lease. Another
/// process may do the same work until then, so every change that the work makes checks whether it is still needed.
public final class Lease: Sendable {
    /// How long a holder may fail to increment the number before the lease is free.
    static let duration = Duration.seconds(15)
    /// The interval between two increments.
    private static let renewalInterval = Duration.seconds(5)

    private let name: String
    private let holder: [UInt8]
    private let store: MessagingStore
    private let elapsed: @Sendable () -> Duration
    private let state = Locked(State())

    private struct State {
        /// The row that this process saw last while it did not hold the lease, and when it first saw it.
        var seen: (row: LeaseRow, since: Duration)?
        /// When this process last incremented the number.
        var lastRenewal: Duration?
    }

    /// - Parameters:
    ///   - name: The kind of work; the same in all processes.
    ///   - elapsed: A monotonic clock.
    public init(
        _ name: String, of store: MessagingStore,
        elapsed: @escaping @Sendable () -> Duration = monotonicClock
    ) {
        self.name = name
        self.store = store
        self.elapsed = elapsed
        holder = Array(store.process.utf8) + store.environment.randomBytes(8)
    }

    /// Does work if no other process holds the lease, and keeps the lease afterwards.
    ///
    /// A SQLite file is used by one process, which holds every lease.
    ///
    /// - Parameter work: Cancelled when the lease is lost, or could not be renewed for so long that another process
    ///   may take it.
    /// - Returns: The result of the work; `nil` when another process holds the lease.
    /// - Throws: What the work or the database throws; ``LeaseLost``.
    public func hold<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        guard store.isShared else { return try await work() }
        guard try await take() else { return nil }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await work() }
            group.addTask { try await self.renewRepeatedly() }
            defer { group.cancelAll() }
            return try await group.next()
        }
    }

    /// Releases the lease, so that another process can take it at once.
    public func release() async {
        guard state.withLock({ state in state.lastRenewal != nil }) else { return }
        // If this fails, the lease is free 15 seconds after the last renewal.
        try? await store.releaseLease(name, of: holder)
        state.withLock { state in state.lastRenewal = nil }
    }

    /// Takes or renews the lease, and returns whether this process holds it.
    func take() async throws -> Bool {
        let row = try await store.lease(name)
        let now = elapsed()
        guard row.holder == holder else { return try await takeOver(row, at: now) }
        let last = state.withLock { state in state.lastRenewal }
        if let last, now - last < Self.renewalInterval { return true }
        return try await renew()
    }

    private func takeOver(_ row: LeaseRow, at now: Duration) async throws -> Bool {
        let isFree = state.withLock { state in
            state.lastRenewal = nil
            if state.seen?.row != row { state.seen = (row, now) }
            return row.holder == nil || state.seen.map { now - $0.since >= Self.duration } == true
        }
        guard isFree, try await store.takeLease(name, for: holder, after: row.renewals) else {
            return false
        }
        state.withLock { state in state.lastRenewal = now }
        return true
    }

    /// Increments the number of the lease.
    ///
    /// - Returns: False when another process holds the lease.
    private func renew() async throws -> Bool {
        // The time before the write: other processes count from when they see it.
        let now = elapsed()
        guard try await store.renewLease(name, of: holder) else { return false }
        state.withLock { state in state.lastRenewal = now }
        return true
    }

    /// Renews the lease until the task is cancelled, the lease is lost, or the database was unreachable for too
    /// long.
    private func renewRepeatedly() async throws -> Never {
        while true {
            try await Task.sleep(for: Self.renewalInterval)
            let last = state.withLock { state in state.lastRenewal } ?? .zero
            do {
                guard try await renew() else { throw LeaseLost() }
            } catch let error as SQLError {
                // Other processes may take the lease soon; until then the database may become reachable again.
                if elapsed() - last + Self.renewalInterval >= Self.duration { throw error }
            }
        }
    }

    /// A monotonic clock: the time since it was first used in this process.
    public static let monotonicClock: @Sendable () -> Duration = {
        start.duration(to: ContinuousClock.now)
    }

    private static let start = ContinuousClock.now
}

/// An error: another process has taken over the work.
struct LeaseLost: Error, CustomStringConvertible {
    /// The message for the log.
    var description: String { "another process has taken over this work" }
}

/// The stored state of a lease.
private struct LeaseRow: Equatable, Sendable {
    /// The process that holds the lease; `nil` if it is free.
    let holder: [UInt8]?
    /// The number that each change of the row increments.
    let renewals: Int64
}

extension MessagingStore {
    /// The state of a lease; free where no row exists.
    fileprivate func lease(_ name: String) async throws -> LeaseRow {
        try await database.read { transaction in
            try transaction.first("SELECT holder, renewals FROM leases WHERE name = \(name)") {
                row in
                LeaseRow(holder: try row.optionalBlob(0), renewals: try row.int64(1))
            }
        } ?? LeaseRow(holder: nil, renewals: 0)
    }

    /// Takes a lease, unless its row has changed.
    ///
    /// - Parameter renewals: The number that this process saw last; 0 if there was no row.
    /// - Returns: False when the number has changed since.
    func takeLease(_ name: String, for holder: [UInt8], after renewals: Int64) async throws -> Bool
    {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    INSERT INTO leases (name, holder, renewals) VALUES (\(name), \(holder), 1)
                    ON CONFLICT (name) DO UPDATE
                    SET holder = excluded.holder, renewals = leases.renewals + 1
                    WHERE leases.renewals = \(renewals)
                    """) > 0
        }
    }

    /// Increments the number of a lease.
    ///
    /// - Returns: False when another process holds the lease.
    func renewLease(_ name: String, of holder: [UInt8]) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE leases SET renewals = renewals + 1 WHERE name = \(name) AND holder = \(holder)
                    """) > 0
        }
    }

    func releaseLease(_ name: String, of holder: [UInt8]) async throws {
        try await database.write { transaction in
            try transaction.execute(
                """
                UPDATE leases SET holder = NULL, renewals = renewals + 1
                WHERE name = \(name) AND holder = \(holder)
                """)
        }
    }
}
