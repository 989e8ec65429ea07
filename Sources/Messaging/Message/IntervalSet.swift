/// A set of positive whole numbers, stored as closed intervals such as 1–500 and 502.
///
/// The intervals are sorted and neither overlap nor touch, so equal sets have equal intervals.
public struct IntervalSet: Hashable, Sendable {
    /// The intervals, lowest first.
    public private(set) var intervals: [ClosedRange<Int64>]

    /// The empty set.
    public init() {
        intervals = []
    }

    /// Creates the set of the numbers of one interval.
    public init(_ interval: ClosedRange<Int64>) {
        intervals = [interval]
    }

    /// Creates the set of the numbers of intervals, which may touch, overlap and be in any order.
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

    /// The number of elements.
    public var count: Int64 {
        intervals.reduce(0) { count, interval in
            count + interval.upperBound - interval.lowerBound + 1
        }
    }

    /// Whether the set has no elements.
    public var isEmpty: Bool { intervals.isEmpty }

    /// Whether a number is in the set. Takes logarithmic time in the number of intervals.
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
    /// Returns the numbers of either set.
    public func union(_ other: IntervalSet) -> IntervalSet {
        IntervalSet(intervals + other.intervals)
    }

    /// Returns the numbers of both sets.
    public func intersection(_ other: IntervalSet) -> IntervalSet {
        var both: [ClosedRange<Int64>] = []
        var (lefts, rights) = (intervals[...], other.intervals[...])
        while let left = lefts.first, let right = rights.first {
            let (low, high) = (
                max(left.lowerBound, right.lowerBound), min(left.upperBound, right.upperBound)
            )
            if low <= high { both.append(low...high) }
            if left.upperBound < right.upperBound {
                lefts.removeFirst()
            } else {
                rights.removeFirst()
            }
        }
        return IntervalSet(both)
    }

    /// Returns the numbers of this set that are not in the other.
    public func subtracting(_ other: IntervalSet) -> IntervalSet {
        var rest: [ClosedRange<Int64>] = []
        var holes = other.intervals[...]
        for interval in intervals {
            // What is left of the interval begins here; `nil` for nothing, also where the last number has no successor.
            var low: Int64? = interval.lowerBound
            while let hole = holes.first, hole.upperBound < interval.lowerBound {
                holes.removeFirst()
            }
            for hole in holes {
                guard let first = low, hole.lowerBound <= interval.upperBound else { break }
                if first < hole.lowerBound { rest.append(first...(hole.lowerBound - 1)) }
                low = hole.upperBound < interval.upperBound ? hole.upperBound + 1 : nil
            }
            if let low { rest.append(low...interval.upperBound) }
        }
        return IntervalSet(rest)
    }
}

extension IntervalSet {
    /// Reads a text such as `1-500,502`; the empty text is the empty set.
    ///
    /// `nil` unless the text equals the ``text`` of the set.
    public init?(text: String) {
        self.init()
        var low: Int64?
        var number: Int64 = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                let (next, hasOverflown) = tens.addingReportingOverflow(
                    Int64(byte - UInt8(ascii: "0")))
                // No number is or begins with 0.
                guard !isTooLarge, !hasOverflown, next > 0 else { return nil }
                number = next
            case UInt8(ascii: "-"):
                guard low == nil, number > 0 else { return nil }
                (low, number) = (number, 0)
            case UInt8(ascii: ","):
                guard append(from: low, to: number) else { return nil }
                (low, number) = (nil, 0)
            default: return nil
            }
        }
        guard text.isEmpty || append(from: low, to: number) else { return nil }
    }

    /// Appends an interval; `nil` as its first number stands for one that has only the last.
    ///
    /// - Returns: Whether the set now ends with it, in the only way to write that.
    private mutating func append(from low: Int64?, to high: Int64) -> Bool {
        let first = low ?? high
        guard first > 0, low == nil || first < high,
            intervals.last.map({ last in last.upperBound < first - 1 }) ?? true
        else { return false }
        intervals.append(first...high)
        return true
    }

    /// The set as text, such as `1-500,502`.
    ///
    /// A receipt reads and writes all intervals of a participant, so this does not make a text of each number.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(12 * intervals.count)
        for interval in intervals {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes.append(decimal: interval.lowerBound)
            guard interval.upperBound > interval.lowerBound else { continue }
            bytes.append(UInt8(ascii: "-"))
            bytes.append(decimal: interval.upperBound)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the digits of a positive number.
    fileprivate mutating func append(decimal number: Int64) {
        var divisor: Int64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        var rest = number
        while divisor > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }
}
