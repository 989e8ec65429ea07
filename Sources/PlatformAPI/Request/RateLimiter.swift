import HTTP
import Messaging
import SystemSupport

/// Step 5 of the checks: the rate limit of each token (platform-api §1.11, X5).
///
/// Every request with a valid credential counts, whatever its answer. One lock serves all tokens; it is held for a lookup
/// and a subtraction.
final class RateLimiter: Sendable {
    /// The most tokens tracked; above it, tokens with a full bucket are removed, then all.
    static let capacity = 10_000

    private struct State {
        var limit: RateLimit
        var buckets: [Token.ID: RateBucket] = [:]
        var refused = 0
    }

    private let state: Locked<State>

    init(_ limit: RateLimit) { state = Locked(State(limit: limit)) }

    /// Applies a limit; another one than before resets all tokens.
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

    /// The outcome for one request.
    enum Verdict: Equatable {
        /// There is no limit.
        case free
        /// It passes; with the state of the token's limit after it.
        case admitted(RateLimitStatus)
        /// It is refused; the next one passes within a second.
        case refused(RateLimitStatus)
    }

    /// Counts a request of a token.
    ///
    /// - Parameter now: Milliseconds of one clock.
    func admit(_ token: Token.ID, at now: Int64) -> Verdict {
        state.withLock { state in
            let limit = state.limit
            guard limit.perSecond > 0 else { return .free }
            if state.buckets.count >= Self.capacity, state.buckets[token] == nil {
                state.buckets.forget(at: now)
            }
            let verdict = state.buckets[
                token, default: RateBucket(perSecond: limit.perSecond, burst: limit.burst)
            ].admit(at: now)
            if case .refused = verdict { state.refused += 1 }
            return verdict
        }
    }
}

extension RateBucket {
    fileprivate mutating func admit(at now: Int64) -> RateLimiter.Verdict {
        refill(at: now)
        guard !isEmpty else { return .refused(limitStatus) }
        take()
        return .admitted(limitStatus)
    }
}

extension [Token.ID: RateBucket] {
    /// Removes full buckets, which are the same as new ones; if none is full, removes all.
    fileprivate mutating func forget(at now: Int64) {
        let busy = compactMapValues { bucket -> RateBucket? in
            var bucket = bucket
            bucket.refill(at: now)
            return bucket.isFull ? nil : bucket
        }
        self = busy.count < count ? busy : [:]
    }
}
