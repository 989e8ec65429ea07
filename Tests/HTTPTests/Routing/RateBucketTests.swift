import TestSupport
import Testing

@testable import HTTP

@Suite struct `Rate buckets` {
    /// How many requests are admitted, given the milliseconds between them.
    private func passed(
        _ bucket: inout RateBucket, _ waits: [Int64], from start: Int64 = 1_000_000
    ) -> Int {
        var now = start
        return waits.count { wait in
            now += wait
            bucket.refill(at: now)
            guard !bucket.isEmpty else { return false }
            bucket.take()
            return true
        }
    }

    @Test func `admit the burst at once and not one more (platform-api 1_11)`() {
        var bucket = RateBucket(perSecond: 100, burst: 200)
        #expect(passed(&bucket, Array(repeating: 0, count: 500)) == 200)
    }

    @Test(arguments: 0..<200) func `never admit more than burst and rate allow`(seed: UInt64) {
        var random = SeededGenerator(seed)
        let rate = Int64(random.next() % 300) + 1
        let burst = Int64(random.next() % 300) + 1
        let waits = (0..<400).map { _ in Int64(random.next() % 40) }
        var bucket = RateBucket(perSecond: rate, burst: burst)
        let count = Int64(passed(&bucket, waits))
        let elapsed = waits.reduce(0, +)
        #expect(count <= burst + elapsed * rate / 1000 + 1)
        // At least as many as burst or requests allow.
        #expect(count >= min(Int64(waits.count), burst))
    }

    @Test(arguments: 0..<200) func `always admit a caller that stays below the rate`(seed: UInt64) {
        var random = SeededGenerator(seed)
        let rate = Int64(random.next() % 300) + 1
        let pause = (1000 + rate - 1) / rate
        var bucket = RateBucket(perSecond: rate, burst: 1)
        let waits = (0..<300).map { _ in pause + Int64(random.next() % 20) }
        #expect(passed(&bucket, waits) == waits.count)
    }

    @Test func `gain nothing when the clock goes back`() {
        var bucket = RateBucket(perSecond: 10, burst: 5)
        #expect(passed(&bucket, [0, 0, 0, 0, 0, 0]) == 5)
        bucket.refill(at: 0)
        #expect(bucket.isEmpty)
        bucket.refill(at: 99)
        #expect(bucket.isEmpty)
        bucket.refill(at: 100)
        #expect(!bucket.isEmpty)
    }

    @Test func `do not overflow after a long pause`() {
        var bucket = RateBucket(perSecond: 1_000_000, burst: 1_000_000)
        bucket.take()
        bucket.refill(at: .max)
        #expect(bucket.isFull)
        #expect(bucket.limitStatus.remaining == 1_000_000)
    }

    @Test func `report the state of the limit (X5)`() {
        var bucket = RateBucket(perSecond: 100, burst: 200)
        bucket.refill(at: 1000)
        #expect(
            bucket.limitStatus == RateLimitStatus(quota: 200, window: 2, remaining: 200, reset: 0))
        bucket.take()
        #expect(
            bucket.limitStatus == RateLimitStatus(quota: 200, window: 2, remaining: 199, reset: 1))
        for _ in 0..<150 { bucket.take() }
        #expect(
            bucket.limitStatus == RateLimitStatus(quota: 200, window: 2, remaining: 49, reset: 2))
    }

    @Test(arguments: [(Int64(0), "0"), (7, "7"), (10, "10"), (199, "199"), (1_000_000, "1000000")])
    func `are reported in header fields of the draft (X5)`(number: Int64, text: String) {
        var fields = ResponseFields()
        fields.add(
            RateLimitStatus(quota: number, window: 2, remaining: number, reset: 1), policy: "token")
        #expect(fields["RateLimit-Policy"] == "\"token\";q=\(text);w=2")
        #expect(fields["RateLimit"] == "\"token\";r=\(text);t=1")
        #expect(fields.isValid)
        #expect(ResponseFields(bytes: fields.bytes).all.count == 2)
    }
}
