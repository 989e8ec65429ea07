/// What of an import has come, and what was there already.
public struct ImportTally: Equatable, Sendable {
    /// How many of one kind.
    public struct Count: Equatable, Sendable {
        /// Of which kind.
        public let kind: MovedKind
        /// So many have come.
        public fileprivate(set) var brought = 0
        /// So many were there, or were deleted since.
        public fileprivate(set) var present = 0
    }

    /// In the order in which the kinds came.
    public private(set) var counts: [Count] = []
    /// How many conversations became one with another (X1).
    public private(set) var merged = 0
    /// Whether anything is another than before.
    public private(set) var hasChanged = false
    /// How many lines are durable.
    public var lines = 0

    /// Nothing yet.
    public init() {}

    /// Counts one more.
    ///
    /// - Parameter isNew: Whether it has come now.
    public mutating func count(_ kind: MovedKind, isNew: Bool) {
        let known = counts.firstIndex { count in count.kind == kind }
        let index = known ?? counts.endIndex
        if known == nil { counts.append(Count(kind: kind)) }
        if isNew {
            counts[index].brought += 1
            hasChanged = true
        } else {
            counts[index].present += 1
        }
    }

    /// Counts a conversation that has come and become one with another.
    public mutating func countMerged() { merged += 1 }

    /// Notes that messages have come into their order.
    public mutating func noteOrder() { hasChanged = true }
}
