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
