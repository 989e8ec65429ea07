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
