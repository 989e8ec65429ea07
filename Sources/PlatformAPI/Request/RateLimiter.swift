import HTTP
import Messaging
import SystemSupport

/// Step 5: so many requests a second for each token (platform-api §1.11, X5).
///
/// A token pays for every request whose credential holds, whatever becomes of it. One lock for all of
/// them: it is held for a look-up and a subtraction.
final class RateLimiter: Sendable {
    /// Tokens looked after; beyond it those that have not been used lately begin anew.
    static let capacity = 10_000

    private struct State {
        var limit: RateLimit
        var buckets: [Token.ID: RateBucket] = [:]
        var refused = 0
    }

    private let state: Locked<State>

    init(_ limit: RateLimit) { state = Locked(State(limit: limit)) }

    /// Holds from now on; all tokens begin anew when it is another one.
    func apply(_ limit: RateLimit) {
        state.withLock { state in
            guard state.limit != limit else { return }
            state.limit = limit
            state.buckets = [:]
        }
    }

    /// The limit in force.
    var limit: RateLimit { state.withLock { state in state.limit } }

    /// How many requests were refused.
    var refused: Int { state.withLock { state in state.refused } }

    /// How many tokens are remembered.
    var tokens: Int { state.withLock { state in state.buckets.count } }

    /// What becomes of a request.
    enum Verdict: Equatable {
        /// There is no limit.
        case free
        /// It passes; so the token stands after it.
        case admitted(RateLimitStatus)
        /// Too many; the next one passes within a second.
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
    /// A full bucket says nothing that a new one does not; are none full, all are let go.
    fileprivate mutating func forget(at now: Int64) {
        let busy = compactMapValues { bucket -> RateBucket? in
            var bucket = bucket
            bucket.refill(at: now)
            return bucket.isFull ? nil : bucket
        }
        self = busy.count < count ? busy : [:]
    }
}
