/// Wakes a task that waits for work. A signal sent while no task waits is remembered.
package final class WakeSignal: Sendable {
    private let state = Locked(State())

    private struct State {
        var isSet = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// Makes a signal that is not set.
    package init() {}

    /// Sets the signal: there may be work.
    package func signal() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter else {
                state.isSet = true
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until the signal is set, the time is over or the task is cancelled; returns at once
    /// when it was set since the last wait. Clears the signal. At most one task may wait at a time.
    ///
    /// - Parameter milliseconds: `nil` for no limit. A limit takes some hundred bytes of memory until it is over, also if
    ///   the signal is set before: the system keeps the timer of a sleep that is cancelled. So where a signal is frequent,
    ///   a limit must be short.
    package func wait(atMost milliseconds: Int64?) async {
        guard !clear() else { return }
        let timeout = milliseconds.map { milliseconds in
            Task { [self] in
                try await Task.sleep(for: .milliseconds(milliseconds))
                signal()
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let isMissed = state.withLock { state -> Bool in
                    guard !state.isSet, !Task.isCancelled else {
                        state.isSet = false
                        return true
                    }
                    state.waiter = waiter
                    return false
                }
                if isMissed { waiter.resume() }
            }
        } onCancel: {
            signal()
        }
        timeout?.cancel()
    }

    private func clear() -> Bool {
        state.withLock { state in
            defer { state.isSet = false }
            return state.isSet
        }
    }
}
