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

extension Participant {
    /// Reading wants the conversation in his view, whether he still takes part or not (R14).
    ///
    /// - Throws: `notFound`: not announced to him yet, deleted for himself, or left (R16, R17, R51).
    public func requireReading() throws(Rejection) {
        guard state == .shown else { throw .notFound(.conversation) }
    }

    /// Writing wants a participant of now; one who deleted it for himself still may (rulings 15).
    ///
    /// - Throws: `notFound` while he cannot know that it is there (R51); `accessDenied` when he
    ///   takes part no more (R10, R14).
    public func requireWriting() throws(Rejection) {
        guard state != .unseen else { throw .notFound(.conversation) }
        guard !isFormer else { throw .accessDenied }
    }
}

/// Whether a conversation stands in a user's view (R14, R16, R17, R50).
public enum ViewState: String, Sendable {
    /// Not yet: nobody has announced it, or all that was sent is hidden by blocks (R51, R33).
    case unseen
    /// In his lists.
    case shown
    /// He deleted it for himself; the next message he may see brings it back (R16).
    case cleared
    /// He left it; only being added again brings it back (R17).
    case left
}

/// The current participants of a conversation: a set in the order of naming.
///
/// How many there may be, ``MessagingLimits/participants`` says.
public struct Participants: Sendable {
    /// Each participant once, in the order of naming.
    public private(set) var users: [UserID] = []
    /// The same for lookups; `nil` where comparing with each is faster.
    private var index: Set<UserID>?

    /// From so many on there is an index.
    private static let indexedCount = 32

    /// Takes users in order; a user who is named twice keeps the first place.
    public init(_ users: some Sequence<UserID>) {
        for user in users { add(user) }
    }

    /// How many there are.
    public var count: Int { users.count }

    /// Whether a user is among them.
    public func contains(_ user: UserID) -> Bool {
        index?.contains(user) ?? users.contains(user)
    }

    /// Adds at the end; a present user keeps the place they have (R11).
    public mutating func add(_ user: UserID) {
        guard !contains(user) else { return }
        users.append(user)
        if index != nil {
            index?.insert(user)
        } else if users.count >= Self.indexedCount {
            index = Set(users)
        }
    }

    /// Removes; removing an absent user changes nothing (R11).
    public mutating func remove(_ user: UserID) {
        guard contains(user), let place = users.firstIndex(of: user) else { return }
        users.remove(at: place)
        index?.remove(user)
    }

    /// Whether both name the same users in whatever order (R3).
    public func isSameSet(as other: Participants) -> Bool {
        count == other.count && users.allSatisfy(other.contains)
    }
}

extension Participants: Equatable {
    /// The same users in the same order.
    public static func == (left: Self, right: Self) -> Bool { left.users == right.users }
}
