import Synchronization

/// Numbers that many threads add to and anybody reads.
///
/// Each shard is for one loop: what two cores add to in turn costs ten times what one adds to alone.
/// An addition is nine instructions and never allocates.
final class MetricCells: Sendable {
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
