/// The number of rows that the next transaction of long work writes, such as an import or a sort of messages.
///
/// It follows the time that a transaction takes, because other writers wait for it: it doubles after a fast one, and
/// halves after a slow one. So the time depends neither on the engine nor on the load of the machine.
public struct BatchSize: Sendable {
    /// The number of rows.
    public private(set) var count: Int
    private let bounds: ClosedRange<Int>
    private let target: Duration

    /// - Parameters:
    ///   - first: The number of rows of the first transaction, within the bounds.
    ///   - bounds: The smallest and the largest number of rows.
    ///   - target: The time that a transaction should take.
    public init(_ first: Int, in bounds: ClosedRange<Int>, taking target: Duration) {
        count = first
        self.bounds = bounds
        self.target = target
    }

    /// Adjusts the number to the last transaction.
    ///
    /// - Parameters:
    ///   - duration: The time that it took, without the time that it waited for others.
    ///   - written: The number of rows that it wrote.
    public mutating func adjust(to duration: Duration, for written: Int) {
        if duration > target * 1.5 {
            count = max(count / 2, bounds.lowerBound)
        } else if duration < target * 0.75, written >= count {
            count = min(count * 2, bounds.upperBound)
        }
    }
}
