import HTTP
import Messaging
import SystemSupport

/// Step 5 of the checks: the rate limit of each token (platform-api §1.11, X5).
///
/// Every request with a valid credential counts, whatever its answer. One lock serves all tokens; it is held for a
/// lookup and a subtraction.
final class RateLimiter: Sendable {
    /// The most tokens tracked. When it is reached, tokens with a full bucket are removed, or all if there are none.
    static let capacity = 10_000

    private struct State {
        var limit: RateLimit
        var buckets: [Token.ID: RateBucket] = [:]
        var refused = 0
    }

    private let state: Locked<State>

    init(_ limit: RateLimit) { state = Locked(State(limit: limit)) }

    /// Applies a limit; if it differs from the one in force, all buckets start full again.
    func apply(_ limit: RateLimit) {
        state.withLock { state in
            guard state.limit != limit else { return }
            state.limit = limit
            state.buckets = [:]
        }
    }

    /// The limit in force.
    var limit: RateLimit { state.withLock { state in state.limit } }

    /// The number of refused requests.
    var refused: Int { state.withLock { state in state.refused } }

    /// The number of tokens tracked.
    var tokens: Int { state.withLock { state in state.buckets.count } }

    /// The decision about one request.
    enum Decision: Equatable {
        /// There is no limit.
        case free
        /// The request is admitted; holds the state of the token's limit after it.
        case admitted(RateLimitStatus)
        /// The request is refused; the bucket admits one again within a second.
        case refused(RateLimitStatus)
    }

    /// Counts a request of a token.
    ///
    /// - Parameter now: The time in milliseconds, of the same clock in all calls.
    func admit(_ token: Token.ID, at now: Int64) -> Decision {
        state.withLock { state in
            let limit = state.limit
            guard limit.perSecond > 0 else { return .free }
            if state.buckets.count >= Self.capacity, state.buckets[token] == nil {
                state.buckets.removeFull(at: now)
            }
            let decision = state.buckets[
                token, default: RateBucket(perSecond: limit.perSecond, burst: limit.burst)
            ].admit(at: now)
            if case .refused = decision { state.refused += 1 }
            return decision
        }
    }
}

extension RateBucket {
    fileprivate mutating func admit(at now: Int64) -> RateLimiter.Decision {
        refill(at: now)
        guard !isEmpty else { return .refused(limitStatus) }
        take()
        return .admitted(limitStatus)
    }
}

extension [Token.ID: RateBucket] {
    /// Removes full buckets, which equal new ones; if none is full, removes all.
    fileprivate mutating func removeFull(at now: Int64) {
        let busy = compactMapValues { bucket -> RateBucket? in
            var bucket = bucket
            bucket.refill(at: now)
            return bucket.isFull ? nil : bucket
        }
        self = busy.count < count ? busy : [:]
    }
}
