/// Detects a peer that reads its response too slowly (H178); exists while the socket accepts no more output.
///
/// The kernel's send buffer may hold megabytes, so a slow peer that reads steadily makes progress long before
/// the socket accepts bytes again. Therefore the number of unacknowledged bytes is read from the kernel.
final class SlowPeerDetector {
    /// Bytes that are always credited to the peer: its kernel reports free space in steps of a segment or
    /// more, and a reader of a few hundred bytes per second would look stalled between two of them.
    private static let credit: Int64 = 4 << 10

    /// The number of bytes that the kernel has accepted meanwhile.
    var sent: Int64 = 0
    /// The time at which the peer is too slow.
    private(set) var deadline: Int64

    private let since: Int64
    private let unsentAtFirst: Int64
    private var acknowledged: Int64 = 0
    private let idleTimeout: Int64
    private let grace: Int64
    private let rate: Int64

    /// Starts with the number of unacknowledged bytes in the kernel; times are in milliseconds.
    init(unsent: Int64, at now: Int64, _ configuration: ServerConfiguration) {
        since = now
        unsentAtFirst = unsent
        idleTimeout = configuration.writeIdleTimeout
        grace = configuration.writeGrace
        rate = max(configuration.minimumWriteRate, 1)
        deadline = now
        deadline = min(now + idleTimeout, rateDeadline)
    }

    /// Updates the progress of the peer.
    func update(unsent: Int64, at now: Int64) {
        let acknowledged = sent + unsentAtFirst - unsent
        guard acknowledged > self.acknowledged else { return }
        self.acknowledged = acknowledged
        deadline = min(now + idleTimeout, rateDeadline)
    }

    /// The time at which the average rate is too low.
    private var rateDeadline: Int64 {
        since + max(grace, (acknowledged + Self.credit) * 1000 / rate)
    }
}
