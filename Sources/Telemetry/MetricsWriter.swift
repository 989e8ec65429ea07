/// The two texts in which Prometheus takes metrics.
public enum MetricsFormat: String, Sendable, Hashable, CaseIterable {
    /// The Prometheus text format 0.0.4, for everybody.
    case text = "text/plain; version=0.0.4; charset=utf-8"
    /// OpenMetrics 1.0.0, for whoever asks for it.
    case openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// What goes into `Content-Type`.
    public var mediaType: String { rawValue }
}

/// The text of all metrics while it is written: family by family, the samples of a family together.
///
/// Follows the Prometheus text format 0.0.4 ("Exposition formats") or OpenMetrics 1.0.0. They differ in
/// the name a counter is declared under, in `# UNIT`, in quotes of help, in bounds, and in the last line.
public struct MetricsWriter: Sendable {
    /// What has been written so far, UTF-8.
    public private(set) var bytes: [UInt8] = []
    private let format: MetricsFormat
    private var family: MetricFamily?

    /// An empty page.
    public init(_ format: MetricsFormat) {
        self.format = format
        bytes.reserveCapacity(16 << 10)
    }

    /// Writes a family with one sample, without labels.
    public mutating func write(_ family: MetricFamily, _ value: Int) {
        begin(family)
        sample([], value)
    }

    /// Begins a family.
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

    /// Writes a sample of the family that was begun last.
    ///
    /// - Parameters:
    ///   - labels: The values of the family's labels, all of them.
    ///   - value: In the ticks of its unit.
    public mutating func sample(_ labels: [String], _ value: Int) {
        guard let family else { return }
        line(family.sampleName, labels, family.unit, value)
    }

    /// Writes one histogram of the family that was begun last.
    ///
    /// - Parameters:
    ///   - bounds: The largest value of each bucket but the last.
    ///   - counts: How many observations were at most so large; the last one counts all.
    mutating func histogram(_ labels: [String], bounds: [Int], counts: [Int], sum: Int) {
        guard let family else { return }
        for (place, count) in counts.enumerated() {
            let bound = place < bounds.count ? text(bound: bounds[place], family.unit) : "+Inf"
            line("\(family.name)_bucket", labels, .none, count, bound: bound)
        }
        line("\(family.name)_sum", labels, family.unit, sum)
        line("\(family.name)_count", labels, .none, counts.last ?? 0)
    }

    /// Ends the page.
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

    /// OpenMetrics writes bounds as canonical decimals, with a point.
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
