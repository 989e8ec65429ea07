/// What one participant sees of a conversation and has made of it, as merging looks at it (X1.3).
///
/// He has taken part from the beginning, as everybody has in a distinct conversation.
public struct ViewCopy: Equatable, Sendable {
    /// Whether the conversation stands in his view.
    public let state: ViewState
    /// The last position he has deleted for himself together with all before it (R16).
    public let clearedTo: Position
    /// Single positions hidden from him behind that: deleted by him, or by a block (R29, R32).
    public let hidden: IntervalSet
    /// What he has received and read.
    public let receipts: Receipts

    /// A view as stored.
    public init(
        state: ViewState, clearedTo: Position = .start, hidden: IntervalSet = IntervalSet(),
        receipts: Receipts = Receipts()
    ) {
        self.state = state
        self.clearedTo = clearedTo
        self.hidden = hidden
        self.receipts = receipts
    }

    /// The positions up to which he has deleted.
    private var cleared: IntervalSet {
        clearedTo > .start ? IntervalSet(1...clearedTo.number) : IntervalSet()
    }

    /// The same view of the same messages where they stand now.
    ///
    /// What he has deleted up to a place may lie apart then, so it is named one by one.
    func relocated(by stretches: [Relocation]) -> RelocatedView {
        RelocatedView(
            state: state, cleared: cleared.relocated(by: stretches),
            hidden: hidden.relocated(by: stretches),
            receipts: Receipts(
                delivered: receipts.delivered.relocated(by: stretches),
                read: receipts.read.relocated(by: stretches)))
    }
}

/// A view on its way into a merged conversation: what is not seen of it, position by position.
struct RelocatedView {
    let state: ViewState
    let cleared: IntervalSet
    let hidden: IntervalSet
    let receipts: Receipts

    /// Both views in one: seen if it is in either, and of each message the higher status. What is
    /// deleted or hidden stays so.
    func merging(_ other: RelocatedView) -> RelocatedView {
        RelocatedView(
            state: max(state, other.state), cleared: cleared.union(other.cleared),
            hidden: hidden.union(other.hidden),
            receipts: Receipts(
                delivered: receipts.delivered.union(other.receipts.delivered),
                read: receipts.read.union(other.receipts.read)))
    }

    /// The view of a conversation whose messages stand at some positions.
    func view(of messages: IntervalSet) -> ViewCopy {
        let unseen = cleared.union(hidden).intersection(messages)
        let first = messages.subtracting(unseen).intervals.first?.lowerBound ?? .max
        let head = cleared.intervals.prefix { interval in interval.lowerBound < first }
        let clearedTo = head.last.map { interval in min(interval.upperBound, first - 1) } ?? 0
        return ViewCopy(
            state: state, clearedTo: Position(clearedTo),
            hidden: clearedTo > 0 ? unseen.subtracting(IntervalSet(1...clearedTo)) : unseen,
            receipts: receipts)
    }
}

extension ViewState: Comparable {
    /// What is seen in one of two merged conversations is seen; what he deleted he may write to.
    public static func < (left: ViewState, right: ViewState) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .left: 0
        case .unseen: 1
        case .cleared: 2
        case .shown: 3
        }
    }
}
