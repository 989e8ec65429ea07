public import Messaging
import SystemSupport

/// Wakes readers of event logs when events were committed.
///
/// It is advanced after the commit, so that a reader which it wakes finds the events. Commits of other processes to
/// the same database server are reported after ``MessagingStore/listen(onUpload:onSignal:)``; commits of other processes to the
/// same SQLite file are not. So readers also poll.
public final class CommitSignal: Sendable {
    private let state = Locked(State())
    private let pollInterval: Int64

    private struct State {
        /// The last position of each log that is known to be committed.
        var latest: [Application.ID: LogPosition] = [:]
        /// The waiting readers, by number.
        var waiting: [UInt64: Waiter] = [:]
        /// The number of the reader that began to wait last.
        var lastWaiter: UInt64 = 0
    }

    private struct Waiter: Sendable {
        let application: Application.ID
        let position: LogPosition
        let wake: CheckedContinuation<LogPosition?, Never>
    }

    /// - Parameter pollInterval: The longest wait of a reader that polls, in milliseconds.
    init(pollInterval: Int64) { self.pollInterval = pollInterval }

    /// The last position known to be committed; `nil` if no commit was reported yet.
    public func latest(in application: Application.ID) -> LogPosition? {
        state.withLock { state in state.latest[application] }
    }

    /// Waits until the log is known to extend beyond a position.
    ///
    /// - Returns: The last position; `nil` when the waiting task was cancelled.
    public nonisolated(nonsending) func wait(
        past position: LogPosition, in application: Application.ID
    ) async -> LogPosition? {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                let waiter = Waiter(application: application, position: position, wake: wake)
                enter(waiter, as: number)
                // If the task was cancelled between the check and the registration, `onCancel` has found no
                // waiter.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Waits until the log is known to extend beyond a position, for at most that many milliseconds and no longer than the
    /// poll interval.
    ///
    /// The caller reads the log afterwards in any case, because commits of other processes may not be reported.
    public func poll(
        past position: LogPosition, in application: Application.ID,
        atMost milliseconds: Int64 = .max
    ) async {
        let milliseconds = min(milliseconds, pollInterval)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await self.wait(past: position, in: application) }
            // The task that finishes first cancels the other one.
            group.addTask { await pause(milliseconds: milliseconds) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Reports that all events up to a position are committed; wakes the readers that wait for them.
    func advance(to position: LogPosition, in application: Application.ID) {
        let woken = state.withLock { state -> [Waiter] in
            guard state.latest[application] ?? .start < position else { return [] }
            state.latest[application] = position
            let woken = state.waiting.filter { _, waiter in
                waiter.application == application && waiter.position < position
            }
            for number in woken.keys { state.waiting[number] = nil }
            return Array(woken.values)
        }
        for waiter in woken { waiter.wake.resume(returning: position) }
    }

    private func enter(_ waiter: Waiter, as number: UInt64) {
        let known = state.withLock { state -> LogPosition? in
            if let latest = state.latest[waiter.application], waiter.position < latest {
                return latest
            }
            state.waiting[number] = waiter
            return nil
        }
        if let known { waiter.wake.resume(returning: known) }
    }

    private func leave(_ number: UInt64) {
        let waiter = state.withLock { state in state.waiting.removeValue(forKey: number) }
        waiter?.wake.resume(returning: nil)
    }
}
