import Dispatch
import SystemSupport

/// Runs all changes in order, many in one transaction (group commit).
///
/// Changes queue up while a commit syncs the disk; the next transaction takes all of them. A change never
/// waits for a batch to fill, and its caller is resumed only after the commit is durable.
final class Writer: Sendable {
    /// The most changes in one transaction; a larger batch only makes its first caller wait longer.
    static let batchLimit = 256

    private let queue = DispatchQueue(label: "sql.writer")
    private let connection: Locked<any Connection>
    private let onCommit: @Sendable (Duration) -> Void
    private let state = Locked(State())

    private struct State {
        var waiting: [Mutation] = []
        /// Whether the queue runs ``commitAll()``.
        var isRunning = false
        var isClosed = false
        var statistics = WriterStatistics()
    }

    init(
        _ connection: sending any Connection, onCommit: @escaping @Sendable (Duration) -> Void
    ) {
        self.connection = Locked(connection)
        self.onCommit = onCommit
    }

    /// Changes queued for the next transaction.
    var waiting: Int { state.withLock { $0.waiting.count } }

    var statistics: WriterStatistics { state.withLock { $0.statistics } }

    func enqueue(_ mutation: Mutation) {
        enum Placement { case first, queued, rejected }
        let placement = state.withLock { state -> Placement in
            guard !state.isClosed else { return .rejected }
            state.waiting.append(mutation)
            defer { state.isRunning = true }
            return state.isRunning ? .queued : .first
        }
        switch placement {
        case .first: queue.async { self.commitAll() }
        case .queued: break
        case .rejected: mutation.fail(SQLError.closed)
        }
    }

    /// Runs the queued changes, closes the connection, and rejects later changes.
    func close() {
        state.withLock { $0.isClosed = true }
        // The queue is serial: queued changes were handed to it before this block.
        queue.sync {
            connection.withLock { connection in connection.close() }
        }
    }

    private func commitAll() {
        while hasWaiting() {
            commitNext()
            connection.withLock { connection in connection.performMaintenance() }
        }
    }

    private func commitNext() {
        connection.withLock { connection in
            var commit = BatchCommit(
                taking: { self.takeBatch() }, on: connection, counting: statistics)
            let start = ContinuousClock.now
            let answers = commit.run()
            onCommit(start.duration(to: .now))
            let statistics = commit.statistics
            state.withLock { $0.statistics = statistics }
            // Before the notification, so that no caller waits for it. To resume a caller only enqueues its task, so it
            // is safe within the lock.
            for answer in answers { answer() }
            if !commit.notifications.isEmpty {
                connection.notify(commit.notifications.texts)
            }
        }
    }

    /// Whether a change waits; if not, the next one starts ``commitAll()`` again.
    private func hasWaiting() -> Bool {
        state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            return state.isRunning
        }
    }

    private func takeBatch() -> [Mutation] {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.batchLimit))
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }
}

/// A change that waits for the writer, with the caller to resume.
struct Mutation: Sendable {
    /// Sends the queries that the change will make; `nil` when it has none to send ahead.
    let prefetch: (@Sendable (Transaction) throws -> Void)?

    /// Makes the change; returns a closure that resumes the caller, to be called once it is durable.
    let run: @Sendable (Transaction) throws -> @Sendable () -> Void

    /// Resumes the caller with an error; nothing of the change was committed.
    let fail: @Sendable (any Error) -> Void

    init<Value: Sendable>(
        _ change: @escaping @Sendable (Transaction) throws -> Value,
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)?,
        answering continuation: CheckedContinuation<Value, any Error>
    ) {
        self.prefetch = prefetch
        run = { transaction in
            let value = try change(transaction)
            return { continuation.resume(returning: value) }
        }
        fail = { error in continuation.resume(throwing: error) }
    }
}

/// Counters of the writer since the database was opened.
public struct WriterStatistics: Hashable, Sendable {
    /// Committed transactions; each costs one sync of the disk.
    public internal(set) var commits = 0

    /// Changes in them; divided by ``commits``, how many callers shared a sync.
    public internal(set) var mutations = 0

    /// The largest number of changes in one commit.
    public internal(set) var largestBatch = 0

    /// Batches run again because one of their changes threw after it had written.
    public internal(set) var replays = 0

    /// Waits for the server; 0 on a file. A commit takes at least two: one for what its changes read, one for what
    /// they write.
    public internal(set) var roundTrips = 0

    mutating func count(_ batch: Int) {
        guard batch > 0 else { return }
        commits += 1
        mutations += batch
        largestBatch = max(largestBatch, batch)
    }
}
