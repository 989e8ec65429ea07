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
