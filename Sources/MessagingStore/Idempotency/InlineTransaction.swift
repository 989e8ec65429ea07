import SQL
import SystemSupport

/// A transaction in which a request handler does all of its work.
///
/// The handler returns its response before the transaction ends, so that the response can be stored in it (X2).
/// The lock is never contended, because one handler runs on the thread of the transaction.
final class InlineTransaction: Sendable {
    private struct State {
        /// `nil` once the handler has ended.
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

    /// Runs a query or change of the handler.
    func run<Value: Sendable>(_ body: (Transaction) throws -> Value) throws -> Value {
        try state.withLock { state in
            guard let transaction = state.transaction else { throw StoreFault.leftTransaction }
            return try body(transaction)
        }
    }

    /// Runs a handler to its end on this thread.
    ///
    /// - Returns: Its result; `nil` when it has suspended on something other than this store.
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
    private struct Line {
        var jobs: [UnownedJob] = []
        var isOpen = true
    }

    private let line = Locked(Line())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = line.withLock { line in
            if line.isOpen { line.jobs.append(job) }
            return line.isOpen
        }
        // The task has suspended on something else. The job runs on the global executor, where its store calls fail.
        if !isTaken { globalConcurrentExecutor.enqueue(job) }
    }

    /// Runs the enqueued jobs and the jobs they enqueue, until none is left.
    func runAll() {
        while let job = next() {
            // Each job is removed from the list before it runs, so it runs once.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private func next() -> UnownedJob? {
        line.withLock { line in
            if line.jobs.isEmpty { line.isOpen = false }
            return line.isOpen ? line.jobs.removeFirst() : nil
        }
    }
}
