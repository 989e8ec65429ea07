/// How a caller stands with a limit, as the fields `RateLimit-Policy` and `RateLimit` tell it
/// (draft-ietf-httpapi-ratelimit-headers).
package struct RateStanding: Equatable, Sendable {
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
    /// Written octet by octet, because they stand on every answer of a limited route.
    package mutating func add(_ standing: RateStanding, policy: StaticString) {
        add("RateLimit-Policy") { octets in
            octets.append(quoted: policy)
            octets.append(";q=", standing.quota)
            octets.append(";w=", standing.window)
        }
        add("RateLimit") { octets in
            octets.append(quoted: policy)
            octets.append(";r=", standing.remaining)
            octets.append(";t=", standing.reset)
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
