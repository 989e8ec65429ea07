/// The counters of one family: one for each combination of its labels' values.
public struct CounterTable: Sendable {
    /// What is counted.
    public let family: MetricFamily
    private let rows: LabelRows
    private let cells: MetricCells

    /// Zeros.
    ///
    /// - Parameters:
    ///   - values: The values of each label of the family.
    ///   - shards: How many loops add at the same time.
    public init(_ family: MetricFamily, _ values: [LabelValues] = [], shards: Int = 1) {
        precondition(family.kind == .counter && family.labels.count == values.count)
        self.family = family
        rows = LabelRows(values)
        cells = MetricCells(count: rows.count, shards: shards)
    }

    /// Adds to the counter of a row, which counts the combinations with the last label running
    /// fastest; from any thread, best from that of the shard.
    public func add(_ amount: Int = 1, row: Int = 0, shard: Int = 0) {
        cells.add(amount, at: row, shard: shard)
    }

    /// Writes the counters; one whose combination of labels never occurred is left out.
    public func write(to page: inout MetricsPage) {
        page.begin(family)
        for row in 0..<rows.count {
            let value = cells.value(at: row)
            if value != 0 || family.labels.isEmpty { page.sample(rows.values(of: row), value) }
        }
    }
}
