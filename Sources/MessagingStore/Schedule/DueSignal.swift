import Locking
import Messaging

/// Tells the sender of scheduled messages that one is due earlier than it believes.
///
/// Rung after the commit, so what it tells of can be read. What rings between looking and waiting is
/// kept, so that it is not missed.
final class DueSignal: Sendable {
    private let state = Locked(State())

    private struct State {
        /// The earliest moment it has rung for since somebody began to look.
        var earliest: Timestamp?
        var waiting: Waiter?
    }

    private struct Waiter: Sendable {
        /// When it wakes by itself; `nil` for never.
        let next: Timestamp?
        let wake: CheckedContinuation<Void, Never>

        func isLate(for due: Timestamp) -> Bool {
            next.map { next in due < next } ?? true
        }
    }

    /// Tells that a message is due at a moment.
    func ring(for due: Timestamp) {
        let woken = state.withLock { state -> Waiter? in
            state.earliest = min(state.earliest ?? due, due)
            guard let waiter = state.waiting, waiter.isLate(for: due) else { return nil }
            state.waiting = nil
            return waiter
        }
        woken?.wake.resume()
    }

    /// Begins to look: what has rung so far will be seen.
    func beginLook() {
        state.withLock { state in state.earliest = nil }
    }

    /// Waits until it rings for a moment before the one that is known, or the task is cancelled; not
    /// at all when it has since the look began. One waits at a time.
    func wait(before next: Timestamp?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                enter(Waiter(next: next, wake: wake))
                // Cancelled between the check and the entry, nobody would wake it.
                if Task.isCancelled { leave() }
            }
        } onCancel: {
            leave()
        }
    }

    private func enter(_ waiter: Waiter) {
        let isMissed = state.withLock { state -> Bool in
            guard let earliest = state.earliest, waiter.isLate(for: earliest) else {
                state.waiting = waiter
                return false
            }
            return true
        }
        if isMissed { waiter.wake.resume() }
    }

    private func leave() {
        let waiter = state.withLock { state -> Waiter? in
            defer { state.waiting = nil }
            return state.waiting
        }
        waiter?.wake.resume()
    }
}
