internal import SystemSupport

/// How many streams there may be at once, all together and for each user (H157); WebSockets and event
/// streams may share one count.
public final class StreamLimits: Sendable {
    private struct State {
        var total = 0
        var users: [String: Int] = [:]
    }

    private let state = Locked(State())
    private let maximum: Int
    private let maximumPerUser: Int

    /// Makes a count.
    public init(maximum: Int, maximumPerUser: Int = 16) {
        self.maximum = maximum
        self.maximumPerUser = maximumPerUser
    }

    /// How many there are.
    public var count: Int { state.withLock { state in state.total } }

    /// Counts one more stream for as long as the slot is held.
    ///
    /// - Throws: 503 when the server has no room, 429 when the user has no more (H155).
    public func admit(_ user: String) throws(Refusal) -> StreamSlot {
        let refusal = state.withLock { state -> Refusal? in
            guard state.total < maximum else {
                return Refusal(.serviceUnavailable, "H157", "The server has no room for a stream.")
            }
            guard state.users[user, default: 0] < maximumPerUser else {
                return Refusal(.tooManyRequests, "H157", "The user has too many streams open.")
            }
            state.total += 1
            state.users[user, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
        return StreamSlot(user: user, limits: self)
    }

    fileprivate func leave(_ user: String) {
        state.withLock { state in
            state.total -= 1
            // A user without streams costs nothing.
            let rest = state.users[user, default: 1] - 1
            state.users[user] = rest == 0 ? nil : rest
        }
    }
}

/// One stream's place in ``StreamLimits``, given back when the stream closes or the slot is let go.
public final class StreamSlot: Sendable {
    private let user: String
    private let limits: Locked<StreamLimits?>

    fileprivate init(user: String, limits: StreamLimits) {
        self.user = user
        self.limits = Locked(limits)
    }

    deinit { leave() }

    /// Gives the place back, once.
    package func leave() {
        let limits = limits.withLock { limits in
            defer { limits = nil }
            return limits
        }
        limits?.leave(user)
    }
}
