/// A set of whole numbers from one up, kept as closed intervals like a `.newsrc` line.
///
/// Intervals are sorted, do not touch, and are never empty, so equal sets have equal values.
public struct IntervalSet: Hashable, Sendable {
    /// The intervals, lowest first.
    public private(set) var intervals: [ClosedRange<Int64>]

    /// The empty set.
    public init() {
        intervals = []
    }

    /// The numbers of one interval.
    public init(_ interval: ClosedRange<Int64>) {
        intervals = [interval]
    }

    /// The numbers of many intervals, which may touch, overlap and come in any order.
    public init(_ intervals: some Sequence<ClosedRange<Int64>>) {
        self.intervals = []
        for interval in intervals.sorted(by: { left, right in left.lowerBound < right.lowerBound })
        {
            guard let last = self.intervals.last, interval.lowerBound - 1 <= last.upperBound else {
                self.intervals.append(interval)
                continue
            }
            let end = max(last.upperBound, interval.upperBound)
            self.intervals[self.intervals.count - 1] = last.lowerBound...end
        }
    }

    /// How many numbers there are.
    public var count: Int64 {
        intervals.reduce(0) { count, interval in
            count + interval.upperBound - interval.lowerBound + 1
        }
    }

    /// Whether there is no number.
    public var isEmpty: Bool { intervals.isEmpty }

    /// Whether a number is in the set; logarithmic in the number of intervals.
    public func contains(_ number: Int64) -> Bool {
        var (low, high) = (0, intervals.count)
        while low < high {
            let middle = (low + high) / 2
            if intervals[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low < intervals.count && intervals[low].contains(number)
    }
}
