internal import Bytes

/// The declaration of a metric: the source of the metrics page and of the table in the article
/// Metrics.
public struct MetricFamily: Sendable, Hashable {
    /// The type of its values.
    public enum Kind: String, Sendable, Hashable {
        /// Only grows, from zero at the start of the process.
        case counter
        /// Rises and falls.
        case gauge
        /// Counts of observations up to each bound, and their sum.
        case histogram
    }

    /// Letters, digits and underscores; ends with the unit's name, and not with `_total`.
    public let name: String
    /// The type of its values.
    public let kind: Kind
    /// The unit of its values.
    public let unit: MetricUnit
    /// The names of its labels, in the order of their values.
    public let labels: [String]
    /// The description: one sentence.
    public let help: String

    /// Declares a metric.
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

    /// The name of its samples: counters end with `_total`.
    public var sampleName: String { kind == .counter ? "\(name)_total" : name }
}

/// The unit of a metric. Values are stored as whole ticks, so that adding is one exact instruction;
/// they are written in Prometheus's base unit.
public enum MetricUnit: String, Sendable, Hashable {
    /// A number of things.
    case none = ""
    /// Bytes.
    case bytes
    /// Seconds; a tick is a nanosecond.
    case seconds

    /// The number of decimals of a tick.
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
