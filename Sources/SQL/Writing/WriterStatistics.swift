/// What the writer has done since the database was opened.
public struct WriterStatistics: Hashable, Sendable {
    /// Transactions committed; each cost one sync of the disk.
    public internal(set) var commits = 0

    /// Changes in them. Divided by ``commits`` it is how many callers shared a sync.
    public internal(set) var mutations = 0

    /// The most changes one commit carried.
    public internal(set) var largestBatch = 0

    /// Batches run a second time because one of their changes threw after it had changed something.
    public internal(set) var replays = 0

    mutating func count(_ batch: Int) {
        guard batch > 0 else { return }
        commits += 1
        mutations += batch
        largestBatch = max(largestBatch, batch)
    }
}
