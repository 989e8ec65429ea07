/// Background work that is started once and stopped once.
///
/// The work does not keep its owner alive unless its closure captures the owner.
package final class BackgroundTask: Sendable {
    private let task = Locked<Task<Void, Never>?>(nil)

    /// Makes a task that does nothing before ``start(priority:_:)``.
    package init() {}

    /// Starts the work; further calls have no effect.
    ///
    /// - Parameter work: Must end soon after its task is cancelled.
    package func start(
        priority: TaskPriority? = nil, _ work: @escaping @Sendable () async -> Void
    ) {
        task.withLock { task in
            if task == nil { task = Task(priority: priority, operation: work) }
        }
    }

    /// Cancels the work and waits until it has ended; returns at once when it was never started.
    package func stop() async {
        task.withLock { task in task }?.cancel()
        await waitUntilEnded()
    }

    /// Waits until the work has ended, without cancelling it.
    package func waitUntilEnded() async { await task.withLock { task in task }?.value }
}

/// Waits that many milliseconds; returns early when its task is cancelled.
///
/// Code that waits takes this function as a parameter, so that tests need not wait.
package func pause(milliseconds: Int64) async {
    // A cancelled sleep just ends early.
    try? await Task.sleep(for: .milliseconds(milliseconds))
}

/// Repeats work until its task is cancelled, waiting that many milliseconds before each run.
package func runRepeatedly(after milliseconds: Int64, _ work: () async -> Void) async {
    while true {
        await pause(milliseconds: milliseconds)
        if Task.isCancelled { return }
        await work()
    }
}
