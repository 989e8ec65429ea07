import HTTP
import SystemSupport

/// A limit of attempts: so many at once, then one in each interval.
struct AttemptBucket: Sendable {
    private let capacity: Int64
    private let interval: Int64
    /// In milliseconds: an attempt takes one interval.
    private var credit: Int64
    private var updated = Int64.min

    /// A full bucket.
    ///
    /// - Parameter interval: In milliseconds.
    init(capacity: Int64, interval: Int64) {
        self.capacity = capacity
        self.interval = interval
        credit = capacity * interval
    }

    /// Whether all attempts are available.
    var isFull: Bool { credit == capacity * interval }

    /// Adds what became available until a time in milliseconds; nothing when time went back.
    mutating func refill(at now: Int64) {
        let elapsed = updated == .min ? 0 : max(0, now.saturatingDifference(to: updated))
        credit = min(capacity * interval, credit + min(elapsed, capacity * interval))
        updated = now
    }

    /// Takes an attempt.
    ///
    /// - Returns: The milliseconds until one is available; `nil` if one was taken.
    mutating func take(at now: Int64) -> Int64? {
        refill(at: now)
        guard credit >= interval else { return interval - credit }
        credit -= interval
        return nil
    }

    /// Returns an attempt that does not count.
    mutating func giveBack() { credit = min(capacity * interval, credit + interval) }
}

extension Int64 {
    fileprivate func saturatingDifference(to other: Int64) -> Int64 {
        let (difference, overflowed) = subtractingReportingOverflow(other)
        return overflowed ? .max : difference
    }
}

/// A limit of attempts for each address. An IPv6 address counts as its first 64 bits, which one client has.
final class AddressLimit: Sendable {
    /// The most addresses tracked.
    static let capacity = 10_000

    private let buckets = Locked<[Key: AttemptBucket]>([:])
    private let new: AttemptBucket

    /// What counts as one address.
    struct Key: Hashable, Sendable {
        private let peer: PeerAddress

        init(_ peer: PeerAddress) {
            self.peer =
                switch peer {
                case .ipv4(let bits, _): .ipv4(bits, port: 0)
                case .ipv6(let address, _):
                    .ipv6(IPv6Address(high: address.high, low: 0), port: 0)
                case .local, .unknown: peer
                }
        }
    }

    /// - Parameter interval: In milliseconds.
    init(capacity: Int64, interval: Int64) {
        new = AttemptBucket(capacity: capacity, interval: interval)
    }

    /// Takes an attempt of an address.
    ///
    /// - Returns: The milliseconds until one is available; `nil` if one was taken.
    func take(_ peer: PeerAddress, at now: Int64) -> Int64? {
        let key = Key(peer)
        return buckets.withLock { buckets in
            if buckets.count >= Self.capacity, buckets[key] == nil {
                buckets = buckets.filter { entry in
                    var bucket = entry.value
                    bucket.refill(at: now)
                    return !bucket.isFull
                }
                // An address more would let an attacker with many addresses use up memory.
                guard buckets.count < Self.capacity else { return 30_000 }
            }
            return buckets[key, default: new].take(at: now)
        }
    }

    /// Returns an attempt that does not count.
    func giveBack(_ peer: PeerAddress) {
        buckets.withLock { buckets in buckets[Key(peer)]?.giveBack() }
    }
}
