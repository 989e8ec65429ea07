/// A user who takes or took part in a conversation, and when: intervals of positions (R12–R15).
public struct Participant: Equatable, Sendable {
    /// The user.
    public let userID: UserID
    /// Positions sent while he took part earlier; empty unless he left and came back.
    public private(set) var past: IntervalSet
    /// The last position before he joined.
    public private(set) var joinedAfter: Position
    /// The last position before he was removed; `nil` while he takes part.
    public private(set) var leftAfter: Position?

    /// A participant as stored.
    public init(
        userID: UserID, past: IntervalSet = IntervalSet(), joinedAfter: Position = .start,
        leftAfter: Position? = nil
    ) {
        self.userID = userID
        self.past = past
        self.joinedAfter = joinedAfter
        self.leftAfter = leftAfter
    }

    /// Whether he takes part no more (R14).
    public var isFormer: Bool { leftAfter != nil }

    /// Whether a message at that place was sent to or by him: who was there has a status (R71).
    public func wasPresent(at place: Position) -> Bool {
        past.contains(place.number)
            || (joinedAfter < place && leftAfter.map { last in place <= last } ?? true)
    }

    /// Whether he may see the message at that place.
    ///
    /// A current participant sees all history, that of his absence included (R12, R15); a former
    /// one sees what there was when he was removed (R13, R14).
    public func sees(_ place: Position) -> Bool {
        leftAfter.map { last in place <= last } ?? true
    }

    /// After being removed when the conversation ends at that place.
    public func leaving(after last: Position) -> Participant {
        Participant(userID: userID, past: past, joinedAfter: joinedAfter, leftAfter: last)
    }

    /// After being added again when the conversation ends at that place.
    public func returning(after last: Position) -> Participant {
        guard let leftAfter else { return self }
        let stay =
            joinedAfter < leftAfter
            ? IntervalSet(joinedAfter.next.number...leftAfter.number) : IntervalSet()
        return Participant(userID: userID, past: past.union(stay), joinedAfter: last)
    }
}
