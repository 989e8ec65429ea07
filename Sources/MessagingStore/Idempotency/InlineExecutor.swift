import Locking

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
