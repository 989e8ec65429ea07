/// A token bucket: admits a number of events per second and a burst at once (H145, platform-api
/// §1.11).
package struct RateBucket: Sendable {
    private let perSecond: Int64
    private let burst: Int64
    /// In thousandths, so that each millisecond adds a whole number.
    private var available: Int64
    private var updated = Int64(0)

    /// A full bucket.
    package init(perSecond: Int64, burst: Int64) {
        self.perSecond = max(perSecond, 1)
        self.burst = burst
        available = burst * 1000
    }

    /// Whether the whole burst is available.
    package var isFull: Bool { available == burst * 1000 }
    /// Whether nothing is available now; something will be within a second.
    package var isEmpty: Bool { available < 1000 }

    /// Adds what became available until a time in milliseconds of any one clock; nothing when time
    /// went back.
    package mutating func refill(at now: Int64) {
        // Time beyond what fills the bucket has no effect, and the product stays small.
        let elapsed = min(max(now - updated, 0), 1 + burst * 1000 / perSecond)
        available = min(burst * 1000, available + elapsed * perSecond)
        updated = now
    }

    /// Takes one.
    package mutating func take() { available -= 1000 }

    /// The state to report to the caller.
    package var limitStatus: RateLimitStatus {
        RateLimitStatus(
            quota: burst, window: Self.seconds(burst * 1000, perSecond),
            remaining: max(available, 0) / 1000,
            reset: Self.seconds(burst * 1000 - available, perSecond))
    }

    /// Whole seconds, rounded up, in which that many thousandths become available.
    private static func seconds(_ thousandths: Int64, _ perSecond: Int64) -> Int64 {
        (thousandths + 1000 * perSecond - 1) / (1000 * perSecond)
    }
}

/// The state of a rate limit, as reported in `RateLimit-Policy` and `RateLimit`
/// (draft-ietf-httpapi-ratelimit-headers).
package struct RateLimitStatus: Equatable, Sendable {
    /// The most requests at once.
    let quota: Int64
    /// Seconds in which the whole quota becomes available again.
    let window: Int64
    /// Requests available now.
    let remaining: Int64
    /// Seconds until the whole quota is available.
    let reset: Int64
}

extension ResponseFields {
    /// Appends both fields for a policy name of lower-case letters.
    ///
    /// Written without strings, because every response of a limited route has them.
    package mutating func add(_ limitStatus: RateLimitStatus, policy: StaticString) {
        add("RateLimit-Policy") { bytes in
            bytes.append(quoted: policy)
            bytes.append(";q=", limitStatus.quota)
            bytes.append(";w=", limitStatus.window)
        }
        add("RateLimit") { bytes in
            bytes.append(quoted: policy)
            bytes.append(";r=", limitStatus.remaining)
            bytes.append(";t=", limitStatus.reset)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(quoted text: StaticString) {
        append(0x22)
        append(text)
        append(0x22)
    }

    fileprivate mutating func append(_ key: StaticString, _ number: Int64) {
        append(key)
        var rest = number
        var digits = 1
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        let start = count
        append(contentsOf: repeatElement(0x30, count: digits))
        rest = number
        for index in (start..<start + digits).reversed() {
            self[index] += UInt8(rest % 10)
            rest /= 10
        }
    }

    private mutating func append(_ text: StaticString) {
        // A literal lives as long as the program.
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
