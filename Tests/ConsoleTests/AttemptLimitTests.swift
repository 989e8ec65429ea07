import Glibc
import HTTP
import Synchronization
import Testing

@testable import Console

@Suite struct `Limits of attempts` {
    @Test func `allow a number at once, and then one in each interval`() {
        var bucket = AttemptBucket(capacity: 5, interval: 30_000)
        for _ in 0..<5 { #expect(bucket.take(at: 1000) == nil) }
        #expect(bucket.take(at: 1000) == 30_000)
        #expect(bucket.take(at: 21_000) == 10_000)
        #expect(bucket.take(at: 31_000) == nil)
        #expect(bucket.take(at: 31_000) == 30_000)
        bucket.giveBack()
        #expect(bucket.take(at: 31_000) == nil)
    }

    @Test func `do not change when the clock is set back or far ahead`() {
        var bucket = AttemptBucket(capacity: 1, interval: 1000)
        #expect(bucket.take(at: .max) == nil)
        #expect(bucket.take(at: 0) == 1000)
        #expect(bucket.take(at: .min + 1) == 1000)
        #expect(bucket.take(at: .max) == nil)
        bucket.refill(at: .max)
        #expect(!bucket.isFull)
    }

    @Test func `count the addresses of an IPv6 network as one`() {
        let limit = AddressLimit(capacity: 1, interval: 1000)
        let peers = (1...3).map { low in
            PeerAddress.ipv6(IPv6Address(high: 7, low: low), port: UInt16(low))
        }
        #expect(limit.take(peers[0], at: 0) == nil)
        #expect(limit.take(peers[1], at: 0) == 1000)
        #expect(limit.take(.ipv6(IPv6Address(high: 8, low: 1), port: 1), at: 0) == nil)
        #expect(limit.take(.ipv4(1, port: 1), at: 0) == nil)
        #expect(limit.take(.ipv4(1, port: 2), at: 0) == 1000)
    }

    @Test func `track a bounded number of addresses`() {
        let limit = AddressLimit(capacity: 1, interval: 1000)
        for bits in 0..<UInt32(AddressLimit.capacity) {
            #expect(limit.take(.ipv4(bits, port: 1), at: 0) == nil)
        }
        #expect(limit.take(.ipv4(.max, port: 1), at: 0) != nil)
        // Addresses that may try again are forgotten.
        #expect(limit.take(.ipv4(.max, port: 1), at: 2000) == nil)
    }
}

@Suite struct `The queue of passwords` {
    @Test func `has two at work and sixteen waiting`() async throws {
        let queue = PasswordQueue()
        let refusal = FirstRefusal()
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    do {
                        try await queue.run { refusal.wait() }
                        return true
                    } catch {
                        refusal.note()
                        return false
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 } >= 18)
        #expect(outcomes.contains(false))
        try await queue.run {}
    }
}

/// Whether a caller was refused.
private final class FirstRefusal: Sendable {
    private let isNoted = Atomic<Bool>(false)

    func note() { isNoted.store(true, ordering: .releasing) }

    /// Blocks until a caller was refused, for a minute at most.
    func wait() {
        let end = ContinuousClock.now + .seconds(60)
        while !isNoted.load(ordering: .acquiring), ContinuousClock.now < end { usleep(1000) }
    }
}
