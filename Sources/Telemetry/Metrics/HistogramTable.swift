/// The histograms of one family: one for each combination of its labels' values, with fixed bounds.
public struct HistogramTable: Sendable {
    /// What is observed.
    public let family: MetricFamily
    /// The largest value of each bucket but the last, which takes all others; in ticks, ascending.
    public let bounds: [Int]
    private let rows: LabelRows
    private let cells: MetricCells

    /// Nothing observed yet; the parameters are those of ``CounterTable``.
    public init(
        _ family: MetricFamily, bounds: [Int], _ values: [LabelValues] = [], shards: Int = 1
    ) {
        precondition(family.kind == .histogram && family.labels.count == values.count)
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { one, other in one < other })
        self.family = family
        self.bounds = bounds
        rows = LabelRows(values)
        cells = MetricCells(count: rows.count * (bounds.count + 2), shards: shards)
    }

    /// Takes a value in, as ``CounterTable/add(_:row:shard:)`` does.
    public func observe(_ value: Int, row: Int = 0, shard: Int = 0) {
        var bucket = 0
        // Most observations end in the first few buckets.
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        let first = row * (bounds.count + 2)
        cells.add(1, at: first + bucket, shard: shard)
        cells.add(value, at: first + bounds.count + 1, shard: shard)
    }

    /// Writes the histograms; one that nothing was observed for is left out if it has labels.
    public func write(to page: inout MetricsPage) {
        page.begin(family)
        for row in 0..<rows.count {
            let first = row * (bounds.count + 2)
            // Buckets first: an observation that comes meanwhile may miss in the sum, never the
            // other way round, and the count is that of the buckets.
            var count = 0
            let counts = (0...bounds.count).map { bucket in
                count += cells.value(at: first + bucket)
                return count
            }
            guard count > 0 || family.labels.isEmpty else { continue }
            page.histogram(
                rows.values(of: row), bounds: bounds, counts: counts,
                sum: cells.value(at: first + bounds.count + 1))
        }
    }
}
