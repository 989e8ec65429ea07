/// Work that goes on in the background, from a start to a stop.
///
/// Whoever owns one is not kept alive by the work, unless the work itself holds on to him.
package final class BackgroundTask: Sendable {
    private let task = Locked<Task<Void, Never>?>(nil)

    /// Nothing is done before ``start(priority:_:)``.
    package init() {}

    /// Begins, once: whoever comes later changes nothing.
    ///
    /// - Parameter work: Ends soon after its task is cancelled.
    package func start(
        priority: TaskPriority? = nil, _ work: @escaping @Sendable () async -> Void
    ) {
        task.withLock { task in
            if task == nil { task = Task(priority: priority, operation: work) }
        }
    }

    /// Cancels the work, and waits for its end; without a start there is nothing to wait for.
    package func stop() async {
        task.withLock { task in task }?.cancel()
        await waitUntilEnded()
    }

    /// Waits for the end of work that was told of it in another way.
    package func waitUntilEnded() async { await task.withLock { task in task }?.value }
}

/// Waits that many milliseconds; returns early when its task is cancelled.
///
/// What waits takes this from outside, so that tests need not wait.
package func pause(milliseconds: Int64) async {
    // A cancelled sleep means that nobody waits any more.
    try? await Task.sleep(for: .milliseconds(milliseconds))
}

/// Does something again and again, so many milliseconds after it was done, until its task is cancelled.
package func runRepeatedly(after milliseconds: Int64, _ work: () async -> Void) async {
    while true {
        await pause(milliseconds: milliseconds)
        if Task.isCancelled { return }
        await work()
    }
}
