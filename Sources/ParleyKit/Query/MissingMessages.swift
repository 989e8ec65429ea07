internal import Messaging
internal import SystemSupport

/// The messages that live queries miss: for each conversation one task loads them (K13).
final class MissingMessages: Sendable {
    private struct Loading {
        /// The positions that queries have asked for.
        var positions: IntervalSet
        /// Ends a delay after an error.
        let wake = WakeSignal()
    }

    private let state = Locked<[Conversation.ID: Loading]>([:])

    /// Adds positions to those that are loaded.
    ///
    /// - Returns: A signal that ends the delays of the task that the caller must start; `nil` if there is one.
    func add(_ positions: IntervalSet, of conversation: Conversation.ID) -> WakeSignal? {
        state.withLock { state in
            if let known = state[conversation] {
                state[conversation]?.positions = known.positions.union(positions)
                return nil
            }
            let loading = Loading(positions: positions)
            state[conversation] = loading
            return loading.wake
        }
    }

    /// How many positions are between the lowest one that is missing and one from which on nothing is.
    ///
    /// - Parameter position: `Int64.max` if nothing is here.
    func count(of conversation: Conversation.ID, before position: Int64) -> Int64 {
        state.withLock { state in
            guard let missing = state[conversation]?.positions.intervals, let first = missing.first,
                let last = missing.last
            else { return 0 }
            return max(0, min(position, last.upperBound + 1) - first.lowerBound)
        }
    }

    /// Ends the task of a conversation, unless positions below the one that it has come to were added meanwhile.
    ///
    /// - Returns: Whether it ends.
    func end(_ conversation: Conversation.ID, at position: Int64) -> Bool {
        state.withLock { state in
            let lowest = state[conversation]?.positions.intervals.first?.lowerBound
            guard position <= lowest ?? .max else { return false }
            state[conversation] = nil
            return true
        }
    }

    /// Ends all delays.
    func kick() {
        for loading in state.withLock({ state in Array(state.values) }) { loading.wake.signal() }
    }
}
