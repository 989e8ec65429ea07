import Synchronization

/// The counters of one family: one for each combination of its labels' values.
public struct CounterTable: Sendable {
    /// What is counted.
    public let family: MetricFamily
    private let rows: LabelRows
    private let cells: ShardedCounters

    /// Zeros.
    ///
    /// - Parameters:
    ///   - values: The values of each label of the family.
    ///   - shards: How many loops add at the same time.
    public init(_ family: MetricFamily, _ values: [LabelValues] = [], shards: Int = 1) {
        precondition(family.kind == .counter && family.labels.count == values.count)
        self.family = family
        rows = LabelRows(values)
        cells = ShardedCounters(count: rows.count, shards: shards)
    }

    /// Adds to the counter of a row, which counts the combinations with the last label running
    /// fastest; from any thread, best from that of the shard.
    public func add(_ amount: Int = 1, row: Int = 0, shard: Int = 0) {
        cells.add(amount, at: row, shard: shard)
    }

    /// Writes the counters; one whose combination of labels never occurred is left out.
    public func write(to page: inout MetricsWriter) {
        page.begin(family)
        for row in 0..<rows.count {
            let value = cells.value(at: row)
            if value != 0 || family.labels.isEmpty { page.sample(rows.values(of: row), value) }
        }
    }
}

/// The histograms of one family: one for each combination of its labels' values, with fixed bounds.
public struct HistogramTable: Sendable {
    /// What is observed.
    public let family: MetricFamily
    /// The largest value of each bucket but the last, which takes all others; in ticks, ascending.
    public let bounds: [Int]
    private let rows: LabelRows
    private let cells: ShardedCounters

    /// Nothing observed yet; the parameters are those of ``CounterTable``.
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
    public func write(to page: inout MetricsWriter) {
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

/// The values a label may take, known before the first request (H212): what a client sends cannot
/// add one.
public struct LabelValues: Sendable {
    /// The value of everything that was not declared.
    public static let other = "other"

    /// The declared values, then ``other``.
    public let all: [String]
    /// Places of the values of each length. Comparing a literal with itself costs two words, so this
    /// finds a route in a few instructions, where a dictionary would hash all of it.
    private let byLength: [[Int]]

    /// Declares the values, each once.
    public init(_ values: [String]) {
        all = values.filter { value in value != Self.other } + [Self.other]
        var byLength = [[Int]](
            repeating: [], count: 1 + (all.map(\.utf8.count).max() ?? 0))
        for (place, value) in all.enumerated() { byLength[value.utf8.count].append(place) }
        self.byLength = byLength
    }

    /// How many there are.
    public var count: Int { all.count }

    /// The place of a value, or that of ``other``.
    public func index(of value: String) -> Int {
        let length = value.utf8.count
        guard length < byLength.count else { return all.count - 1 }
        for place in byLength[length] where all[place] == value { return place }
        return all.count - 1
    }
}

/// Numbers the combinations of labels: the last label runs fastest.
struct LabelRows: Sendable {
    private let labels: [LabelValues]
    let count: Int

    init(_ labels: [LabelValues]) {
        self.labels = labels
        count = labels.reduce(1) { product, values in product * values.count }
    }

    /// The values of a combination, in the order of the labels.
    func values(of row: Int) -> [String] {
        var rest = row
        let backwards = labels.reversed().map { values in
            defer { rest /= values.count }
            return values.all[rest % values.count]
        }
        return backwards.reversed()
    }
}

/// Numbers that many threads add to and anybody reads.
///
/// Each shard is for one loop: what two cores add to in turn costs ten times what one adds to alone.
/// An addition is nine instructions and never allocates.
final class ShardedCounters: Sendable {
    private let blocks: [Block]
    private let blocksPerShard: Int

    /// Zeros, so many for each shard.
    init(count: Int, shards: Int) {
        blocksPerShard = (count + Block.size - 1) / Block.size
        blocks = (0..<blocksPerShard * max(shards, 1)).map { _ in Block() }
    }

    /// Adds to a number; a shard that does not exist traps.
    func add(_ amount: Int, at index: Int, shard: Int) {
        blocks[shard * blocksPerShard + index / Block.size].add(amount, at: index % Block.size)
    }

    /// The sum over all shards.
    func value(at index: Int) -> Int {
        stride(from: index / Block.size, to: blocks.count, by: blocksPerShard).reduce(0) {
            sum, place in sum &+ blocks[place].value(at: index % Block.size)
        }
    }

    /// Shards have blocks of their own, so no cache line belongs to two of them.
    private final class Block: Sendable {
        static let size = 64
        private let cells = InlineArray<64, Atomic<Int>> { _ in Atomic(0) }

        func add(_ amount: Int, at index: Int) {
            // Relaxed: the numbers say nothing about other memory, and each of them only grows.
            cells[index].wrappingAdd(amount, ordering: .relaxed)
        }

        func value(at index: Int) -> Int { cells[index].load(ordering: .relaxed) }
    }
}
