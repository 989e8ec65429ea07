import HTTP
import Messaging
import SystemSupport

/// A rate limit of each key: of a token or session as step 5 of the checks (platform-api §1.11, X5), or of an address.
///
/// Every request with a valid credential counts, whatever its answer. One lock serves all keys; it is held for a
/// lookup and a subtraction.
final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The most keys tracked. When it is reached, keys with a full bucket are removed, or all if there are none.
    static var capacity: Int { 10_000 }

    private struct State {
        var limit: RateLimit
        var buckets: [Key: RateBucket] = [:]
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

    /// The number of keys tracked.
    var tracked: Int { state.withLock { state in state.buckets.count } }

    /// Counts a request of a key.
    ///
    /// - Parameter now: The time in milliseconds, of the same clock in all calls.
    func admit(_ key: Key, at now: Int64) -> RateLimitDecision {
        state.withLock { state in
            let limit = state.limit
            guard limit.perSecond > 0 else { return .free }
            if state.buckets.count >= Self.capacity, state.buckets[key] == nil {
                Self.removeFull(&state.buckets, at: now)
            }
            let decision = state.buckets[
                key, default: RateBucket(perSecond: limit.perSecond, burst: limit.burst)
            ].admit(at: now)
            if case .refused = decision { state.refused += 1 }
            return decision
        }
    }

    /// Removes full buckets, which equal new ones; if none is full, removes all.
    private static func removeFull(_ buckets: inout [Key: RateBucket], at now: Int64) {
        let busy = buckets.compactMapValues { bucket -> RateBucket? in
            var bucket = bucket
            bucket.refill(at: now)
            return bucket.isFull ? nil : bucket
        }
        buckets = busy.count < buckets.count ? busy : [:]
    }
}

/// The decision about one request under a rate limit.
enum RateLimitDecision: Equatable {
    /// There is no limit.
    case free
    /// The request is admitted; holds the state of the key's limit after it.
    case admitted(RateLimitStatus)
    /// The request is refused; the bucket admits one again within a second.
    case refused(RateLimitStatus)
}

extension RateBucket {
    fileprivate mutating func admit(at now: Int64) -> RateLimitDecision {
        refill(at: now)
        guard !isEmpty else { return .refused(limitStatus) }
        take()
        return .admitted(limitStatus)
    }
}
