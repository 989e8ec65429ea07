/// The number of rows that the next transaction of long work writes, such as an import or a sort of messages.
///
/// It follows the time that a transaction takes, because other writers wait for it: it doubles after a fast one, and
/// halves after a slow one. So the time depends neither on the engine nor on the load of the machine. While other writers
/// wait, and for 16 transactions afterwards, the target is a third of the given time.
public struct BatchSize: Sendable {
    /// The number of rows.
    public private(set) var count: Int
    private let bounds: ClosedRange<Int>
    private let target: Duration
    /// The number of consecutive transactions that delayed no other writer, up to ``patience``.
    private var undisturbed = Self.patience

    /// After this many of them the full target applies again.
    private static let patience = 16

    /// - Parameters:
    ///   - first: The number of rows of the first transaction, within the bounds.
    ///   - bounds: The smallest and the largest number of rows.
    ///   - target: The time that a transaction should take while no other writer waits.
    public init(_ first: Int, in bounds: ClosedRange<Int>, taking target: Duration) {
        count = first
        self.bounds = bounds
        self.target = target
    }

    /// Adjusts the number to the last transaction.
    ///
    /// - Parameter written: The number of rows that it wrote.
    public mutating func adjust(to time: TransactionTime, for written: Int) {
        undisturbed = time.hasDelayedOthers ? 0 : min(undisturbed + 1, Self.patience)
        let target = undisturbed < Self.patience ? target / 3 : target
        if time.duration > target * 1.5 {
            count = max(count / 2, bounds.lowerBound)
        } else if time.duration < target * 0.75, written >= count {
            count = min(count * 2, bounds.upperBound)
        }
    }
}

/// How long a transaction kept other writers waiting.
public struct TransactionTime: Hashable, Sendable {
    /// The time from its begin until it was durable.
    public let duration: Duration
    /// Whether other changes waited for it.
    public let hasDelayedOthers: Bool

    /// Creates the time of a transaction.
    public init(duration: Duration, hasDelayedOthers: Bool) {
        self.duration = duration
        self.hasDelayedOthers = hasDelayedOthers
    }
}
