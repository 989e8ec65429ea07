/// A peer for whom more waits than its socket takes, and what it has taken since (H178).
///
/// The kernel's buffer may hold megabytes: a slow peer that reads them steadily makes progress long
/// before the socket takes something again. So the kernel is asked what it still holds.
final class SlowPeerDetector {
    /// What a peer may owe at any time: its kernel tells of room in lumps of a segment or more, and
    /// a reader of a few hundred bytes per second would look dead between two of them.
    private static let lump: Int64 = 4 << 10

    /// Bytes the kernel took meanwhile.
    var sent: Int64 = 0
    /// When too little will have been taken.
    private(set) var due: Int64

    private let since: Int64
    private let unsentAtFirst: Int64
    private var taken: Int64 = 0
    private let patience: Int64
    private let grace: Int64
    private let rate: Int64

    /// Begins at a time in milliseconds, with so many bytes in the kernel.
    init(unsent: Int64, at now: Int64, _ configuration: ServerConfiguration) {
        since = now
        unsentAtFirst = unsent
        patience = configuration.writeIdleTimeout
        grace = configuration.writeGrace
        rate = max(configuration.minimumWriteRate, 1)
        due = now
        due = min(now + patience, dueByRate)
    }

    /// Takes notice of what the peer has taken.
    func look(unsent: Int64, at now: Int64) {
        let taken = sent + unsentAtFirst - unsent
        guard taken > self.taken else { return }
        self.taken = taken
        due = min(now + patience, dueByRate)
    }

    /// From when on the average is too low.
    private var dueByRate: Int64 { since + max(grace, (taken + Self.lump) * 1000 / rate) }
}
