/// The positions of a conversation that one participant has received and read, as interval sets (R70–R72).
public struct Receipts: Equatable, Sendable {
    /// The kind of a receipt.
    public enum Kind: String, Sendable {
        case delivery, read
    }

    /// The received positions.
    public private(set) var delivered: IntervalSet
    /// The read positions; a read message counts as received.
    public private(set) var read: IntervalSet

    /// Creates receipts for the given positions; none by default.
    public init(delivered: IntervalSet = IntervalSet(), read: IntervalSet = IntervalSet()) {
        self.delivered = delivered.union(read)
        self.read = read
    }

    /// Returns the receipts after a further one; statuses only rise, and repeats change nothing (R72).
    public func recording(_ kind: Kind, of positions: IntervalSet) -> Receipts {
        switch kind {
        case .delivery: Receipts(delivered: delivered.union(positions), read: read)
        case .read: Receipts(delivered: delivered, read: read.union(positions))
        }
    }

    /// Returns the status of the message at a position for this participant, which must not be its sender.
    public func status(at position: Position) -> RecipientStatus {
        if read.contains(position.number) { return .read }
        return delivered.contains(position.number) ? .delivered : .sent
    }
}

/// The status of a message for a recipient; it only rises (R70, R72).
public enum RecipientStatus: String, Comparable, CaseIterable, Sendable {
    case sent, delivered, read

    /// The earlier status comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .sent: 0
        case .delivered: 1
        case .read: 2
        }
    }
}
