import CLinux
import Dispatch
import Glibc
import Locking

// The loop as an executor, and the way to it from other threads.
extension EventLoop {
    /// What other threads have handed over.
    struct Foreign {
        var jobs: [UnownedJob] = []
        var work: [@Sendable () -> Void] = []
        var isStopped = false

        var isEmpty: Bool { jobs.isEmpty && work.isEmpty }
    }

    /// Takes a job of a task that prefers this loop.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            localJobs.append(job)
        } else {
            hand { foreign in foreign.jobs.append(job) }
        }
    }

    /// The same as a serial executor's reference.
    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// True on this loop's queue.
    var isCurrent: Bool { CurrentLoop.value === self }

    /// Runs something on the loop: at once when called there, else in its next turn.
    func perform(_ work: @escaping @Sendable () -> Void) {
        if isCurrent {
            work()
        } else {
            hand { foreign in foreign.work.append(work) }
        }
    }

    private func hand(_ add: (inout Foreign) -> Void) {
        let (wasEmpty, isStopped) = foreign.withLock { foreign in
            let wasEmpty = foreign.isEmpty
            add(&foreign)
            return (wasEmpty, foreign.isStopped)
        }
        guard wasEmpty else { return }
        if isStopped {
            queue.async { @Sendable [self] in runLeftovers() }
        } else {
            // `queue.async` would wait behind a run in progress; the eventfd ends its `epoll_wait`.
            eventfd_write(wakeUp, 1)
        }
    }

    /// Runs what was waiting when the turn began, and a few rounds of what that adds: answers to
    /// pipelined requests that need no waiting leave together.
    func runJobs() {
        for _ in 0..<16 {
            let handed = takeForeign()
            guard !localJobs.isEmpty || !handed.isEmpty else { return }
            run(handed)
        }
    }

    /// Serves as a plain queue once the loop has stopped: a handler that outlived its connection
    /// still runs to its end.
    func runLeftovers() {
        CurrentLoop.value = self
        defer { CurrentLoop.value = nil }
        while true {
            let handed = takeForeign()
            if localJobs.isEmpty, handed.isEmpty { return }
            run(handed)
        }
    }

    private func takeForeign() -> Foreign {
        foreign.withLock { foreign in
            guard !foreign.isEmpty else { return Foreign() }
            let taken = foreign
            foreign.jobs = []
            foreign.work = []
            return taken
        }
    }

    private func run(_ handed: Foreign) {
        let jobs = localJobs
        localJobs = []
        for work in handed.work { work() }
        for job in jobs { run(job) }
        for job in handed.jobs { run(job) }
    }

    private func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
}
