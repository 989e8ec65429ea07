/// The text formats in which Prometheus reads metrics.
public enum MetricsFormat: String, Sendable, Hashable, CaseIterable {
    /// The Prometheus text format 0.0.4, the default.
    case text = "text/plain; version=0.0.4; charset=utf-8"
    /// OpenMetrics 1.0.0, if the client accepts it.
    case openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// The value of `Content-Type`.
    public var mediaType: String { rawValue }
}

/// Writes metrics as text, metric by metric.
///
/// The formats, Prometheus text 0.0.4 ("Exposition formats") and OpenMetrics 1.0.0, differ in the
/// name of a counter's declaration, `# UNIT`, quotes in descriptions, bounds, and the last line.
public struct MetricsWriter: Sendable {
    /// The text written so far, in UTF-8.
    public private(set) var bytes: [UInt8] = []
    private let format: MetricsFormat
    private var family: MetricFamily?

    /// Creates an empty text.
    public init(_ format: MetricsFormat) {
        self.format = format
        bytes.reserveCapacity(16 << 10)
    }

    /// Writes a metric with one sample, without labels.
    public mutating func write(_ family: MetricFamily, _ value: Int) {
        begin(family)
        sample([], value)
    }

    /// Writes the declaration of a metric.
    public mutating func begin(_ family: MetricFamily) {
        self.family = family
        let name = format == .openMetrics ? family.name : family.sampleName
        append("# HELP \(name) ")
        appendEscaped(family.help, quotes: format == .openMetrics)
        append("\n# TYPE \(name) \(family.kind.rawValue)\n")
        if format == .openMetrics, family.unit != .none {
            append("# UNIT \(name) \(family.unit.rawValue)\n")
        }
    }

    /// Writes a sample of the metric declared last.
    ///
    /// - Parameters:
    ///   - labels: The values of all its labels.
    ///   - value: In ticks of its unit.
    public mutating func sample(_ labels: [String], _ value: Int) {
        guard let family else { return }
        line(family.sampleName, labels, family.unit, value)
    }

    /// Writes a histogram of the metric declared last.
    ///
    /// - Parameters:
    ///   - bounds: The upper bounds of all buckets but the last.
    ///   - counts: The observations up to each bound; the last counts all.
    mutating func histogram(_ labels: [String], bounds: [Int], counts: [Int], sum: Int) {
        guard let family else { return }
        for (place, count) in counts.enumerated() {
            let bound = place < bounds.count ? text(bound: bounds[place], family.unit) : "+Inf"
            line("\(family.name)_bucket", labels, .none, count, bound: bound)
        }
        line("\(family.name)_sum", labels, family.unit, sum)
        line("\(family.name)_count", labels, .none, counts.last ?? 0)
    }

    /// Ends the text.
    public mutating func end() {
        if format == .openMetrics { append("# EOF\n") }
    }

    private mutating func line(
        _ name: String, _ labels: [String], _ unit: MetricUnit, _ value: Int, bound: String? = nil
    ) {
        append(name)
        var pairs = Array(zip(family?.labels ?? [], labels))
        if let bound { pairs.append(("le", bound)) }
        for (place, (label, value)) in pairs.enumerated() {
            append(place == 0 ? "{" : ",")
            append(label)
            append("=\"")
            appendEscaped(value, quotes: true)
            append("\"")
        }
        append(pairs.isEmpty ? " " : "} ")
        unit.append(value, to: &bytes)
        append("\n")
    }

    /// OpenMetrics requires a decimal point in bounds.
    private func text(bound: Int, _ unit: MetricUnit) -> String {
        var bytes: [UInt8] = []
        unit.append(bound, to: &bytes)
        if format == .openMetrics, !bytes.contains(UInt8(ascii: ".")) {
            bytes += Array(".0".utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func appendEscaped(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\n"): append("\\n")
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\"") where quotes: append("\\\"")
            default: bytes.append(byte)
            }
        }
    }
}
