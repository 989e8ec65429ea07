import SQL
import SystemSupport

/// A transaction in which a request handler does all of its work.
///
/// The handler returns its response before the transaction ends, so that the response can be stored in it (X2).
/// The handler runs on the thread of the transaction, so its calls never wait for the lock.
final class InlineTransaction: Sendable {
    private struct State {
        /// `nil` after ``runToEnd(_:)``.
        var transaction: Transaction?
    }

    private let state: Locked<State>

    /// Provides a transaction until ``runToEnd(_:)`` has returned.
    init(_ transaction: Transaction) {
        // Safe because `runToEnd` clears it before the transaction's closure returns, and it is only used under the
        // lock.
        nonisolated(unsafe) let lent = State(transaction: transaction)
        state = unsafe Locked(lent)
    }

    /// Runs a read or a change of the handler.
    ///
    /// - Throws: ``StoreFault/leftTransaction`` after ``runToEnd(_:)``; what the body throws.
    func run<Value: Sendable>(_ body: (Transaction) throws -> Value) throws -> Value {
        try state.withLock { state in
            guard let transaction = state.transaction else { throw StoreFault.leftTransaction }
            return try body(transaction)
        }
    }

    /// Runs a handler to its end on this thread.
    ///
    /// - Returns: Its result; `nil` when it has suspended on something other than the store.
    func runToEnd<Answer: Sendable>(
        _ handle: @escaping @Sendable () async throws -> Answer
    ) -> Result<Answer, any Error>? {
        let executor = InlineExecutor()
        let outcome = Locked<Result<Answer, any Error>?>(nil)
        Task(executorPreference: executor) {
            let result: Result<Answer, any Error>
            do { result = .success(try await handle()) } catch { result = .failure(error) }
            outcome.withLock { outcome in outcome = result }
        }
        executor.runAll()
        let result = outcome.withLock { outcome in outcome }
        state.withLock { state in state.transaction = nil }
        return result
    }
}

/// A task executor that runs jobs on the thread that calls ``runAll()``, and ends with that call.
private final class InlineExecutor: TaskExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isOpen = true
    }

    private let queue = Locked(Queue())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = queue.withLock { queue in
            if queue.isOpen { queue.jobs.append(job) }
            return queue.isOpen
        }
        // The handler has suspended on something other than the store, and the queue is closed. The rest of it runs on
        // the global executor, where its calls to the store throw.
        if !isTaken { globalConcurrentExecutor.enqueue(job) }
    }

    /// Runs the enqueued jobs and the jobs they enqueue, until none is left.
    func runAll() {
        while let job = next() {
            // Safe because each job is removed from the queue before it runs, so it runs once.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private func next() -> UnownedJob? {
        queue.withLock { queue in
            if queue.jobs.isEmpty { queue.isOpen = false }
            return queue.isOpen ? queue.jobs.removeFirst() : nil
        }
    }
}
