internal import Octets

/// What the values of a family count. Values are whole ticks, so that adding them is one instruction
/// and loses nothing; the page shows them in the base unit that Prometheus asks for.
public enum MetricUnit: String, Sendable, Hashable {
    /// Things.
    case none = ""
    /// Octets, under the name they have there.
    case bytes
    /// Time; a tick is a nanosecond.
    case seconds

    /// The decimals of a tick.
    private var decimals: Int { self == .seconds ? 9 : 0 }

    /// Appends a value in the base unit, exactly: `1500000000` ticks of time are `1.5`.
    func append(_ ticks: Int, to page: inout [UInt8]) {
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        page.append(atMost: 21) { text in
            if ticks < 0 { text.append(UInt8(ascii: "-")) }
            text.append(decimal: UInt64(ticks.magnitude / scale.magnitude))
        }
        var fraction = Int(ticks.magnitude % scale.magnitude)
        guard fraction > 0 else { return }
        page.append(UInt8(ascii: "."))
        while fraction > 0 {
            scale /= 10
            page.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction / scale))
            fraction %= scale
        }
    }
}
