public import Messaging
import SystemSupport

/// Wakes readers of the log with a position, never with data.
///
/// It is advanced after the commit, so what it names can be read. Processes that commit to the same
/// server are heard after ``MessagingStore/listen()``, those at the same file are not: a slow poll behind
/// it serves whoever waits for them.
public final class CommitSignal: Sendable {
    private let state = Locked(State())

    private struct State {
        var latest: [Application.ID: LogPosition] = [:]
        var waiting: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    private struct Waiter: Sendable {
        let application: Application.ID
        let place: LogPosition
        let wake: CheckedContinuation<LogPosition?, Never>
    }

    init() {}

    /// The last position known to be committed; `nil` before the first.
    public func latest(in application: Application.ID) -> LogPosition? {
        state.withLock { state in state.latest[application] }
    }

    /// Waits until the log is known to go beyond a place.
    ///
    /// - Returns: The last position; `nil` when the waiting task was cancelled.
    public nonisolated(nonsending) func wait(
        past place: LogPosition, in application: Application.ID
    ) async -> LogPosition? {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                let waiter = Waiter(application: application, place: place, wake: wake)
                enter(waiter, as: number)
                // Cancelled between the check and the entry, nobody would wake it.
                if Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Waits until the log is known to go beyond a place, so many milliseconds at most.
    ///
    /// Whoever looks afterwards anyway also finds what other processes have committed.
    public func wait(
        past place: LogPosition, in application: Application.ID, atMost milliseconds: Int64
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await self.wait(past: place, in: application) }
            // Cancelled with the group: whichever comes first ends both.
            group.addTask { await pause(milliseconds: milliseconds) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Tells that everything up to a position is committed.
    func advance(to position: LogPosition, in application: Application.ID) {
        let woken = state.withLock { state -> [Waiter] in
            guard state.latest[application] ?? .start < position else { return [] }
            state.latest[application] = position
            let woken = state.waiting.filter { _, waiter in
                waiter.application == application && waiter.place < position
            }
            for number in woken.keys { state.waiting[number] = nil }
            return Array(woken.values)
        }
        for waiter in woken { waiter.wake.resume(returning: position) }
    }

    /// The applications somebody waits for.
    var awaited: Set<Application.ID> {
        state.withLock { state in Set(state.waiting.values.map(\.application)) }
    }

    private func enter(_ waiter: Waiter, as number: UInt64) {
        let known = state.withLock { state -> LogPosition? in
            if let latest = state.latest[waiter.application], waiter.place < latest {
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
