/// A user who takes or took part in a conversation, and what he sees of it: positions (R12–R17).
public struct Participant: Equatable, Sendable {
    /// The user.
    public let userID: UserID
    /// Positions sent while he took part earlier; empty unless he left and came back.
    public private(set) var past: IntervalSet
    /// The last position before he joined.
    public private(set) var joinedAfter: Position
    /// The last position before he was removed; `nil` while he takes part.
    public private(set) var leftAfter: Position?
    /// Whether the conversation stands in his view.
    public let state: ViewState
    /// The last position he has deleted for himself together with all before it (R16).
    public let clearedTo: Position

    /// A participant as stored.
    public init(
        userID: UserID, past: IntervalSet = IntervalSet(), joinedAfter: Position = .start,
        leftAfter: Position? = nil, state: ViewState = .shown, clearedTo: Position = .start
    ) {
        self.userID = userID
        self.past = past
        self.joinedAfter = joinedAfter
        self.leftAfter = leftAfter
        self.state = state
        self.clearedTo = clearedTo
    }

    /// Whether he takes part no more (R14).
    public var isFormer: Bool { leftAfter != nil }

    /// Whether a message at that place was sent to or by him: who was there has a status (R71).
    public func wasPresent(at place: Position) -> Bool {
        past.contains(place.number) || isInStay(place)
    }

    /// Whether a message at that place can be unread: history never is (R12).
    public func isInStay(_ place: Position) -> Bool {
        joinedAfter < place && leftAfter.map { last in place <= last } ?? true
    }

    /// Whether the place lies between the bounds of his view.
    ///
    /// A current participant sees all history, that of his absence included (R12, R15); a former
    /// one sees what there was when he was removed (R13, R14); neither what he deleted (R16).
    public func sees(_ place: Position) -> Bool {
        state == .shown && clearedTo < place && leftAfter.map { last in place <= last } ?? true
    }

    /// After being removed when the conversation ends at that place.
    public func leaving(after last: Position) -> Participant {
        var after = self
        after.leftAfter = last
        return after
    }

    /// After being added again when the conversation ends at that place.
    public func returning(after last: Position) -> Participant {
        guard leftAfter != nil else { return self }
        var after = self
        after.past = past.union(stay(upTo: last))
        after.joinedAfter = last
        after.leftAfter = nil
        return after
    }

    /// The positions of his stay that is not over, or was the last, in a conversation that ends
    /// at that place.
    public func stay(upTo last: Position) -> IntervalSet {
        IntervalSet(after: joinedAfter, upTo: leftAfter ?? last)
    }

    /// The positions between the bounds of his view, in a conversation that ends at that place.
    public func range(upTo last: Position) -> IntervalSet {
        IntervalSet(after: clearedTo, upTo: leftAfter ?? last)
    }
}

extension IntervalSet {
    /// The positions behind one place up to another; none when that does not lie behind it.
    fileprivate init(after low: Position, upTo high: Position) {
        self = low < high ? IntervalSet(low.next.number...high.number) : IntervalSet()
    }
}
