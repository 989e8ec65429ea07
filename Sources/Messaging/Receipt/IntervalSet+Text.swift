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
