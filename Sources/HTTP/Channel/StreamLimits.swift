internal import SystemSupport

/// Limits the number of concurrent streams in total and per user (H157). WebSockets and event
/// streams may share an instance.
public final class StreamLimits: Sendable {
    private struct State {
        var total = 0
        var users: [String: Int] = [:]
    }

    private let state = Locked(State())
    private let maximum: Int
    private let maximumPerUser: Int

    /// Makes limits without open streams.
    ///
    /// - Parameters:
    ///   - maximum: The most streams of all users together.
    ///   - maximumPerUser: The most streams of one user, unless ``admit(_:atMost:)`` is given another number.
    public init(maximum: Int, maximumPerUser: Int = 16) {
        self.maximum = maximum
        self.maximumPerUser = maximumPerUser
    }

    /// The number of open streams.
    public var count: Int { state.withLock { state in state.total } }

    /// Counts one more stream until the slot is released or deallocated.
    ///
    /// - Parameter limit: The most streams of this user; `nil` for the default limit.
    /// - Throws: 503 when the server's limit is reached, 429 when the user's is (H157).
    public func admit(_ user: String, atMost limit: Int? = nil) throws(Refusal) -> StreamSlot {
        let refusal = state.withLock { state -> Refusal? in
            guard state.total < maximum else {
                return Refusal(.serviceUnavailable, "H157", "The server has too many streams open.")
            }
            guard state.users[user, default: 0] < limit ?? maximumPerUser else {
                return Refusal(.tooManyRequests, "H157", "The user has too many streams open.")
            }
            state.total += 1
            state.users[user, default: 0] += 1
            return nil
        }
        if let refusal { throw refusal }
        return StreamSlot(user: user, limits: self)
    }

    fileprivate func release(_ user: String) {
        state.withLock { state in
            state.total -= 1
            // Users without streams are not stored.
            let rest = state.users[user, default: 1] - 1
            state.users[user] = rest == 0 ? nil : rest
        }
    }
}

/// One open stream in ``StreamLimits``, released when the stream closes or the slot is deallocated.
public final class StreamSlot: Sendable {
    private let user: String
    private let limits: Locked<StreamLimits?>

    fileprivate init(user: String, limits: StreamLimits) {
        self.user = user
        self.limits = Locked(limits)
    }

    deinit { release() }

    /// Releases the slot; further calls have no effect.
    package func release() {
        let limits = limits.withLock { limits in
            defer { limits = nil }
            return limits
        }
        limits?.release(user)
    }
}
