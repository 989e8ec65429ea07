/// Wakes one who waits for work; what rings while he works is kept.
package final class WakeSignal: Sendable {
    private let state = Locked(State())

    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// A bell that has not rung.
    package init() {}

    /// Says that there may be work.
    package func signal() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter else {
                state.isRung = true
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until it rings, so many milliseconds at most, or until the task is cancelled; not at all when
    /// it has rung since the last time. One waits at a time.
    package func wait(atMost milliseconds: Int64) async {
        guard !take() else { return }
        let alarm = Task { [self] in
            try await Task.sleep(for: .milliseconds(milliseconds))
            signal()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
                let isMissed = state.withLock { state -> Bool in
                    guard !state.isRung, !Task.isCancelled else {
                        state.isRung = false
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
        alarm.cancel()
    }

    private func take() -> Bool {
        state.withLock { state in
            defer { state.isRung = false }
            return state.isRung
        }
    }
}
