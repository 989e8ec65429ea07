/// A current or former participant of a conversation, with the positions that they see (R12–R17).
public struct Participant: Equatable, Sendable {
    /// The user.
    public let userID: UserID
    /// The positions sent during earlier participations; empty unless the user left and was added again.
    public private(set) var past: IntervalSet
    /// The last position before the user joined.
    public private(set) var joinedAfter: Position
    /// The last position before the user was removed; `nil` for a current participant.
    public private(set) var leftAfter: Position?
    /// Whether the conversation is in the user's view.
    public let state: ViewState
    /// The position up to which the user deleted all messages from their own view (R16).
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

    /// Whether the user is no longer a participant (R14).
    public var isFormer: Bool { leftAfter != nil }

    /// Whether the user was a participant when the message at a position was sent, and so has a status
    /// for it (R71).
    public func wasPresent(at position: Position) -> Bool {
        past.contains(position.number) || isInStay(position)
    }

    /// Whether a message at a position was sent in the current or last participation; earlier ones are never unread
    /// (R12).
    public func isInStay(_ position: Position) -> Bool {
        joinedAfter < position && leftAfter.map { last in position <= last } ?? true
    }

    /// The positions up to the last one at which the user was a participant.
    public func presence(upTo last: Position) -> IntervalSet {
        let (first, end) = (joinedAfter.number + 1, min(leftAfter ?? last, last).number)
        return first <= end ? past.union(IntervalSet(first...end)) : past
    }

    /// Whether a position is within the bounds of the user's view.
    ///
    /// A current participant sees all history, including that of an absence (R12, R15); a former one sees
    /// everything up to their removal (R13, R14); neither sees what they deleted (R16).
    public func sees(_ position: Position) -> Bool {
        state == .shown && clearedTo < position
            && leftAfter.map { last in position <= last } ?? true
    }

    /// Returns the participant after being removed, where `last` is the last position of the conversation.
    public func leaving(after last: Position) -> Participant {
        var after = self
        after.leftAfter = last
        return after
    }

    /// Returns the participant after being added again, where `last` is the last position of the conversation.
    public func returning(after last: Position) -> Participant {
        guard leftAfter != nil else { return self }
        var after = self
        after.past = past.union(stay(upTo: last))
        after.joinedAfter = last
        after.leftAfter = nil
        return after
    }

    /// Returns the positions of the current or last participation, where `last` is the last position of the
    /// conversation.
    public func stay(upTo last: Position) -> IntervalSet {
        IntervalSet(after: joinedAfter, upTo: leftAfter ?? last)
    }

    /// Returns the positions within the bounds of the view, where `last` is the last position of the conversation.
    public func range(upTo last: Position) -> IntervalSet {
        IntervalSet(after: clearedTo, upTo: leftAfter ?? last)
    }
}

extension IntervalSet {
    /// The positions after one up to another; none if the second is not greater.
    fileprivate init(after low: Position, upTo high: Position) {
        self = low < high ? IntervalSet(low.next.number...high.number) : IntervalSet()
    }
}

extension Participant {
    /// Checks that the user may read the conversation, also as a former participant (R14).
    ///
    /// - Throws: `notFound` if it is not visible yet, was deleted from the user's own view, or was left
    ///   (R16, R17, R51).
    public func requireReading() throws(Rejection) {
        guard state == .shown else { throw .notFound(.conversation) }
    }

    /// Checks that the user is a current participant, even if they deleted the conversation from their own view
    /// (ruling 15).
    ///
    /// - Throws: `notFound` while the user does not see it (R51); `accessDenied` for a former
    ///   participant (R10, R14).
    public func requireWriting() throws(Rejection) {
        guard state != .unseen else { throw .notFound(.conversation) }
        guard !isFormer else { throw .accessDenied }
    }
}

/// Whether a conversation is in a user's view (R14, R16, R17, R50).
public enum ViewState: String, Sendable {
    /// Not yet visible: it was not announced, or all messages are hidden by blocks (R51, R33).
    case unseen
    /// Visible in the user's lists.
    case shown
    /// The user deleted it from their own view; the next visible message shows it again (R16).
    case cleared
    /// The user left it; only adding the user again shows it again (R17).
    case left
}

/// The current participants of a conversation: a set in the order in which they were named.
///
/// ``MessagingLimits/participants`` is the maximum number.
public struct Participants: Sendable {
    /// Each participant once, in the order in which they were named.
    public private(set) var users: [UserID] = []
    /// The same users for lookups; `nil` for few users, where comparing with each is faster.
    private var index: Set<UserID>?

    /// The number of users from which there is an index.
    private static let indexedCount = 32

    /// Users in order; later duplicates are ignored.
    public init(_ users: some Sequence<UserID>) {
        for user in users { add(user) }
    }

    /// The number of participants.
    public var count: Int { users.count }

    /// Whether a user is among them.
    public func contains(_ user: UserID) -> Bool {
        index?.contains(user) ?? users.contains(user)
    }

    /// Adds a user at the end; the order does not change for a current participant (R11).
    public mutating func add(_ user: UserID) {
        guard !contains(user) else { return }
        users.append(user)
        if index != nil {
            index?.insert(user)
        } else if users.count >= Self.indexedCount {
            index = Set(users)
        }
    }

    /// Removes a user; nothing changes for a user that is not a participant (R11).
    public mutating func remove(_ user: UserID) {
        guard contains(user), let found = users.firstIndex(of: user) else { return }
        users.remove(at: found)
        index?.remove(user)
    }

    /// Whether both have the same users in any order (R3).
    public func isSameSet(as other: Participants) -> Bool {
        count == other.count && users.allSatisfy(other.contains)
    }
}

extension Participants: Equatable {
    /// The same users in the same order.
    public static func == (left: Self, right: Self) -> Bool { left.users == right.users }
}
