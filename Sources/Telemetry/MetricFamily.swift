internal import Bytes

/// What is measured under one name: the declaration that the page, the article Metrics and the tests read.
public struct MetricFamily: Sendable, Hashable {
    /// How its values are to be read.
    public enum Kind: String, Sendable, Hashable {
        /// Only grows, from zero at the start of the process.
        case counter
        /// Goes up and down.
        case gauge
        /// How many observations were at most so large, and their sum.
        case histogram
    }

    /// Letters, digits and underscores; ends in the name of its unit, and not in `_total`.
    public let name: String
    /// How its values are to be read.
    public let kind: Kind
    /// What its values count.
    public let unit: MetricUnit
    /// Names of its labels, in the order of their values.
    public let labels: [String]
    /// One sentence.
    public let help: String

    /// Declares a family.
    public init(
        _ name: String, _ kind: Kind, in unit: MetricUnit = .none, labels: [String] = [],
        _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.labels = labels
        self.help = help
    }

    /// The name its values stand under: counters end in `_total`.
    public var sampleName: String { kind == .counter ? "\(name)_total" : name }
}

/// What the values of a family count. Values are whole ticks, so that adding them is one instruction
/// and loses nothing; the page shows them in the base unit that Prometheus asks for.
public enum MetricUnit: String, Sendable, Hashable {
    /// Things.
    case none = ""
    /// Bytes, under the name they have there.
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
