/// A set of positive whole numbers, stored as closed intervals like a `.newsrc` line.
///
/// Intervals are sorted, do not touch and are never empty, so equal sets have equal values.
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

    /// The numbers of intervals, which may touch, overlap and be in any order.
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

extension IntervalSet {
    /// The numbers of either set.
    public func union(_ other: IntervalSet) -> IntervalSet {
        IntervalSet(intervals + other.intervals)
    }

    /// The numbers of both sets.
    public func intersection(_ other: IntervalSet) -> IntervalSet {
        var both: [ClosedRange<Int64>] = []
        var (mine, theirs) = (intervals[...], other.intervals[...])
        while let left = mine.first, let right = theirs.first {
            let (low, high) = (
                max(left.lowerBound, right.lowerBound), min(left.upperBound, right.upperBound)
            )
            if low <= high { both.append(low...high) }
            if left.upperBound < right.upperBound {
                mine.removeFirst()
            } else {
                theirs.removeFirst()
            }
        }
        return IntervalSet(both)
    }

    /// The numbers of this set that the other lacks.
    public func subtracting(_ other: IntervalSet) -> IntervalSet {
        var rest: [ClosedRange<Int64>] = []
        var holes = other.intervals[...]
        for interval in intervals {
            var low = interval.lowerBound
            while let hole = holes.first, hole.upperBound < low { holes.removeFirst() }
            for hole in holes {
                guard hole.lowerBound <= interval.upperBound else { break }
                if low < hole.lowerBound { rest.append(low...(hole.lowerBound - 1)) }
                low = hole.upperBound + 1
            }
            if low <= interval.upperBound { rest.append(low...interval.upperBound) }
        }
        return IntervalSet(rest)
    }
}

extension IntervalSet {
    /// Reads `1-500,502`; the empty text is the empty set.
    ///
    /// `nil` unless the text is exactly what ``text`` writes for some set.
    public init?(text: String) {
        var intervals: [ClosedRange<Int64>] = []
        for piece in text.split(separator: ",") {
            let bounds = piece.split(separator: "-", omittingEmptySubsequences: false)
            guard bounds.count <= 2, let first = bounds.first, let last = bounds.last,
                let low = Int64(first), let high = Int64(last), 1 <= low, low <= high
            else { return nil }
            intervals.append(low...high)
        }
        self.init(intervals)
        guard self.text == text else { return nil }
    }

    /// The set like a line of `.newsrc`: `1-500,502`.
    public var text: String {
        intervals.map { interval in
            interval.count == 1
                ? "\(interval.lowerBound)" : "\(interval.lowerBound)-\(interval.upperBound)"
        }.joined(separator: ",")
    }
}
