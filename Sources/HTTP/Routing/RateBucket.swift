/// Lets through so many in a second and so many at once (H145, platform-api §1.11).
package struct RateBucket: Sendable {
    private let perSecond: Int64
    private let burst: Int64
    /// In thousandths, so that a millisecond brings a whole number.
    private var available: Int64
    private var updated = Int64(0)

    /// A full bucket.
    package init(perSecond: Int64, burst: Int64) {
        self.perSecond = max(perSecond, 1)
        self.burst = burst
        available = burst * 1000
    }

    /// Whether as many may pass at once as ever.
    package var isFull: Bool { available == burst * 1000 }
    /// Whether none may pass now; the next one may within a second.
    package var isEmpty: Bool { available < 1000 }

    /// Counts what time brought, in milliseconds of any one clock; backwards it brings nothing.
    package mutating func refill(at now: Int64) {
        // A rest longer than it takes to fill is as good as that long; and the product stays small.
        let elapsed = min(max(now - updated, 0), 1 + burst * 1000 / perSecond)
        available = min(burst * 1000, available + elapsed * perSecond)
        updated = now
    }

    /// Counts one that passed.
    package mutating func take() { available -= 1000 }

    /// What the caller may be told of it.
    package var limitStatus: RateLimitStatus {
        RateLimitStatus(
            quota: burst, window: Self.seconds(burst * 1000, perSecond),
            remaining: max(available, 0) / 1000,
            reset: Self.seconds(burst * 1000 - available, perSecond))
    }

    /// Whole seconds, rounded up, in which so many thousandths come.
    private static func seconds(_ thousandths: Int64, _ perSecond: Int64) -> Int64 {
        (thousandths + 1000 * perSecond - 1) / (1000 * perSecond)
    }
}

/// How a caller stands with a limit, as the fields `RateLimit-Policy` and `RateLimit` tell it
/// (draft-ietf-httpapi-ratelimit-headers).
package struct RateLimitStatus: Equatable, Sendable {
    /// How many may pass at once.
    package let quota: Int64
    /// Seconds in which as many come back; together with the quota that is the rate.
    package let window: Int64
    /// How many may pass now.
    package let remaining: Int64
    /// Seconds until all of the quota is back.
    package let reset: Int64
}

extension ResponseFields {
    /// Appends both fields, for the policy of that name: lower-case letters.
    ///
    /// Written byte by byte, because they stand on every answer of a limited route.
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
        for place in (start..<start + digits).reversed() {
            self[place] += UInt8(rest % 10)
            rest /= 10
        }
    }

    private mutating func append(_ text: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
