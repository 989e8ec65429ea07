import SQL
import SystemSupport

/// The right to do what only one of all processes does at a time.
///
/// Whoever holds it counts a number upwards every 5 seconds; whoever wants it and has seen the same number
/// for 15 seconds takes it. Both look at their own clock only, so it matters to nobody how clocks differ,
/// and a holder who died has lost it within 15 seconds.
///
/// A holder who stands still for longer and then goes on learns of his loss at his next beat. What he does
/// until then must do no harm twice: it goes through changes that look whether it is still wanted.
public final class Lease: Sendable {
    /// How long a holder may be silent.
    static let life = Duration.seconds(15)
    /// How often he says that he lives.
    static let beat = Duration.seconds(5)

    private let name: String
    private let holder: [UInt8]
    private let store: MessagingStore
    private let elapsed: @Sendable () -> Duration
    private let state = Locked(State())

    private struct State {
        /// What was seen of somebody else's, and when first.
        var seen: (row: LeaseRow, since: Duration)?
        /// When we last said that we live.
        var lastBeat: Duration?
    }

    /// - Parameters:
    ///   - name: What it is the right to; the same in all processes.
    ///   - elapsed: Any clock that nobody sets.
    public init(
        _ name: String, of store: MessagingStore,
        elapsed: @escaping @Sendable () -> Duration = sinceBoot
    ) {
        self.name = name
        self.store = store
        self.elapsed = elapsed
        holder = store.environment.randomBytes(16)
    }

    /// Does work if nobody else does such work, and goes on to hold the lease afterwards.
    ///
    /// On a file one process has the database to itself, and holds every lease.
    ///
    /// - Parameter work: Is cancelled when the lease is lost meanwhile.
    /// - Returns: What came of it; `nil` when somebody else holds the lease.
    /// - Throws: What the work throws; ``LeaseLost``; what the database throws.
    public func hold<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        guard store.isShared else { return try await work() }
        guard try await take() else { return nil }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await work() }
            group.addTask { try await self.keep() }
            defer { group.cancelAll() }
            return try await group.next()
        }
    }

    /// Lets go of it, so that somebody else may have it at once.
    public func release() async {
        guard state.withLock({ state in state.lastBeat != nil }) else { return }
        // Who cannot say so is silent, which comes to the same a little later.
        try? await store.freeLease(name, of: holder)
        state.withLock { state in state.lastBeat = nil }
    }

    /// Whether it is ours now.
    func take() async throws -> Bool {
        let row = try await store.lease(name)
        let now = elapsed()
        guard row.holder == holder else { return try await takeOver(row, at: now) }
        let last = state.withLock { state in state.lastBeat }
        if let last, now - last < Self.beat { return true }
        return try await renew()
    }

    private func takeOver(_ row: LeaseRow, at now: Duration) async throws -> Bool {
        let isFree = state.withLock { state in
            state.lastBeat = nil
            if state.seen?.row != row { state.seen = (row, now) }
            return row.holder == nil || state.seen.map { now - $0.since >= Self.life } == true
        }
        guard isFree, try await store.takeLease(name, for: holder, after: row.beat) else {
            return false
        }
        state.withLock { state in state.lastBeat = now }
        return true
    }

    /// Says that we live.
    ///
    /// - Returns: False when it is somebody else's by now.
    private func renew() async throws -> Bool {
        // Dated before it is said: others count from when they see it.
        let now = elapsed()
        guard try await store.renewLease(name, of: holder) else { return false }
        state.withLock { state in state.lastBeat = now }
        return true
    }

    /// Says so until it is cancelled, the lease is lost, or nobody could hear it for too long.
    private func keep() async throws -> Never {
        while true {
            try await Task.sleep(for: Self.beat)
            let last = state.withLock { state in state.lastBeat } ?? .zero
            do {
                guard try await renew() else { throw LeaseLost() }
            } catch let error as SQLError {
                // Others may take it soon; until then the database may come back.
                if elapsed() - last + Self.beat >= Self.life { throw error }
            }
        }
    }

    /// A clock that nobody sets.
    public static let sinceBoot: @Sendable () -> Duration = {
        start.duration(to: ContinuousClock.now)
    }

    private static let start = ContinuousClock.now
}

/// Another process has taken over what this one was doing.
public struct LeaseLost: Error, CustomStringConvertible {
    /// One line for the log.
    public var description: String { "another process has taken over" }
}

/// Who holds a lease, as far as anybody has said.
struct LeaseRow: Equatable, Sendable {
    /// `nil` for nobody.
    let holder: [UInt8]?
    /// Rises with everything that is said.
    let beat: Int64
}

extension MessagingStore {
    /// How it stands with a lease; nobody has held it where there is no row.
    func lease(_ name: String) async throws -> LeaseRow {
        try await database.read { transaction in
            try transaction.first("SELECT holder, beat FROM leases WHERE name = \(name)") { row in
                LeaseRow(holder: try row.optionalBlob(0), beat: try row.int64(1))
            }
        } ?? LeaseRow(holder: nil, beat: 0)
    }

    /// - Parameter beat: What was last seen: whoever has said more since then keeps it.
    func takeLease(_ name: String, for holder: [UInt8], after beat: Int64) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    INSERT INTO leases (name, holder, beat) VALUES (\(name), \(holder), 1)
                    ON CONFLICT (name) DO UPDATE
                    SET holder = excluded.holder, beat = leases.beat + 1
                    WHERE leases.beat = \(beat)
                    """) > 0
        }
    }

    /// - Returns: False when it is not his any more.
    func renewLease(_ name: String, of holder: [UInt8]) async throws -> Bool {
        try await database.write { transaction in
            try transaction.rowsChanged(
                by: """
                    UPDATE leases SET beat = beat + 1 WHERE name = \(name) AND holder = \(holder)
                    """) > 0
        }
    }

    func freeLease(_ name: String, of holder: [UInt8]) async throws {
        try await database.write { transaction in
            try transaction.execute(
                """
                UPDATE leases SET holder = NULL, beat = beat + 1
                WHERE name = \(name) AND holder = \(holder)
                """)
        }
    }
}
