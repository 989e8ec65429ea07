import SQL
import SystemSupport

/// A transaction lent to the handler of a request, who does all of his work in it.
///
/// He comes back with his answer before the transaction ends, so that the answer can be kept in it
/// (X2). The lock is never contended: one handler works, on the thread of the transaction.
final class InlineTransaction: Sendable {
    private struct State {
        /// `nil` once it is over.
        var transaction: Transaction?
    }

    private let state: Locked<State>

    /// Lends a transaction until ``host(_:)`` has returned.
    init(_ transaction: Transaction) {
        // Holds because `host` ends the lending before the transaction's closure returns, and until
        // then it is only touched under the lock.
        nonisolated(unsafe) let lent = State(transaction: transaction)
        state = unsafe Locked(lent)
    }

    /// Runs a piece of the handler's work.
    func run<Value: Sendable>(_ body: (Transaction) throws -> Value) throws -> Value {
        try state.withLock { state in
            guard let transaction = state.transaction else { throw StoreFault.leftTransaction }
            return try body(transaction)
        }
    }

    /// Runs a handler to its end on this thread.
    ///
    /// - Returns: What he came to; `nil` when he waited for something other than this store.
    func host<Answer: Sendable>(
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

/// Runs tasks on the thread that calls ``runAll()``, and then no more.
final class InlineExecutor: TaskExecutor {
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
        // Late: somebody has waited elsewhere. He ends where everybody does.
        if !isTaken { globalConcurrentExecutor.enqueue(job) }
    }

    /// Runs what is there and what that brings, until nothing is left.
    func runAll() {
        while let job = next() {
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
