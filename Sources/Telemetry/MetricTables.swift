import Synchronization

/// The counters of a metric, one for each combination of label values.
public struct CounterTable: Sendable {
    /// The metric.
    public let family: MetricFamily
    private let rows: LabelRows
    private let cells: ShardedCounters

    /// Creates counters of zero.
    ///
    /// - Parameters:
    ///   - values: The values of each label.
    ///   - shards: The number of loops that add concurrently.
    public init(_ family: MetricFamily, _ values: [LabelValues] = [], shards: Int = 1) {
        precondition(family.kind == .counter && family.labels.count == values.count)
        self.family = family
        rows = LabelRows(values)
        cells = ShardedCounters(count: rows.count, shards: shards)
    }

    /// Adds to a counter. `row` numbers the combinations of label values, the last label varying
    /// fastest. Any thread may call it; fastest is the shard's own.
    public func add(_ amount: Int = 1, row: Int = 0, shard: Int = 0) {
        cells.add(amount, at: row, shard: shard)
    }

    /// The value of a counter.
    public func value(row: Int = 0) -> Int { cells.value(at: row) }

    /// Writes the counters; combinations of labels that never occurred are left out.
    public func write(to page: inout MetricsWriter) {
        page.begin(family)
        for row in 0..<rows.count {
            let value = cells.value(at: row)
            if value != 0 || family.labels.isEmpty { page.sample(rows.values(of: row), value) }
        }
    }
}

/// The histograms of a metric, one for each combination of label values, with fixed bounds.
public struct HistogramTable: Sendable {
    /// The metric.
    public let family: MetricFamily
    /// The upper bounds of all buckets but the last, in ticks, ascending.
    public let bounds: [Int]
    private let rows: LabelRows
    private let cells: ShardedCounters

    /// Creates empty histograms; the parameters are those of ``CounterTable``.
    public init(
        _ family: MetricFamily, bounds: [Int], _ values: [LabelValues] = [], shards: Int = 1
    ) {
        precondition(family.kind == .histogram && family.labels.count == values.count)
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { one, other in one < other })
        self.family = family
        self.bounds = bounds
        rows = LabelRows(values)
        cells = ShardedCounters(count: rows.count * (bounds.count + 2), shards: shards)
    }

    /// Adds an observation; `row` and `shard` as in ``CounterTable/add(_:row:shard:)``.
    public func observe(_ value: Int, row: Int = 0, shard: Int = 0) {
        var bucket = 0
        // Most observations fall into the first few buckets.
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        let first = row * (bounds.count + 2)
        cells.add(1, at: first + bucket, shard: shard)
        cells.add(value, at: first + bounds.count + 1, shard: shard)
    }

    /// The observations in each bucket of a histogram; the last bucket has no upper bound.
    public func counts(row: Int = 0) -> [Int] {
        let first = row * (bounds.count + 2)
        return (0...bounds.count).map { bucket in cells.value(at: first + bucket) }
    }

    /// Writes the histograms; an empty one is left out if it has labels.
    public func write(to page: inout MetricsWriter) {
        page.begin(family)
        for row in 0..<rows.count {
            let first = row * (bounds.count + 2)
            // Buckets are read before the sum: a concurrent observation may be missing in the
            // buckets but never in the sum. The count is that of the buckets.
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

/// The values of a label, declared before the first request (H212): no client can add one.
public struct LabelValues: Sendable {
    /// The value for everything that is not declared.
    public static let other = "other"

    /// The declared values, then ``other``.
    public let all: [String]
    /// Indexes of the values by length. Comparing a literal with itself compares two words, so this
    /// finds a route in a few instructions; a dictionary would hash the whole text.
    private let byLength: [[Int]]

    /// Declares the values, each once.
    public init(_ values: [String]) {
        all = values.filter { value in value != Self.other } + [Self.other]
        var byLength = [[Int]](
            repeating: [], count: 1 + (all.map(\.utf8.count).max() ?? 0))
        for (place, value) in all.enumerated() { byLength[value.utf8.count].append(place) }
        self.byLength = byLength
    }

    /// The number of values.
    public var count: Int { all.count }

    /// The index of a value, or that of ``other``.
    public func index(of value: String) -> Int {
        let length = value.utf8.count
        guard length < byLength.count else { return all.count - 1 }
        for place in byLength[length] where all[place] == value { return place }
        return all.count - 1
    }
}

/// Numbers the combinations of label values; the last label varies fastest.
struct LabelRows: Sendable {
    private let labels: [LabelValues]
    let count: Int

    init(_ labels: [LabelValues]) {
        self.labels = labels
        count = labels.reduce(1) { product, values in product * values.count }
    }

    /// The label values of a combination, in the order of the labels.
    func values(of row: Int) -> [String] {
        var rest = row
        let backwards = labels.reversed().map { values in
            defer { rest /= values.count }
            return values.all[rest % values.count]
        }
        return backwards.reversed()
    }
}

/// Counters that many threads add to concurrently.
///
/// Each shard is for one loop: adding to a number that two cores share takes ten times as long. An
/// addition takes nine instructions and never allocates.
final class ShardedCounters: Sendable {
    private let blocks: [Block]
    private let blocksPerShard: Int

    /// Creates `count` zeros for each shard.
    init(count: Int, shards: Int) {
        blocksPerShard = (count + Block.size - 1) / Block.size
        blocks = (0..<blocksPerShard * max(shards, 1)).map { _ in Block() }
    }

    /// Adds to a number; traps if the shard does not exist.
    func add(_ amount: Int, at index: Int, shard: Int) {
        blocks[shard * blocksPerShard + index / Block.size].add(amount, at: index % Block.size)
    }

    /// The sum over all shards.
    func value(at index: Int) -> Int {
        stride(from: index / Block.size, to: blocks.count, by: blocksPerShard).reduce(0) {
            sum, place in sum &+ blocks[place].value(at: index % Block.size)
        }
    }

    /// A block belongs to one shard, so shards share no cache line.
    private final class Block: Sendable {
        static let size = 64
        private let cells = InlineArray<64, Atomic<Int>> { _ in Atomic(0) }

        func add(_ amount: Int, at index: Int) {
            // Relaxed: the numbers are independent of other memory, and each only grows.
            cells[index].wrappingAdd(amount, ordering: .relaxed)
        }

        func value(at index: Int) -> Int { cells[index].load(ordering: .relaxed) }
    }
}
