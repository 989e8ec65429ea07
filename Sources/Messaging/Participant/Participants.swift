/// The current participants of a conversation: a set in the order of naming.
public struct Participants: Equatable, Sendable {
    /// Most participants a conversation has (R19).
    public static let limit = 25

    /// Everybody once, in the order of naming.
    public private(set) var users: [UserID] = []

    /// Takes users in order; who is named twice keeps the first place.
    public init(_ users: some Sequence<UserID>) {
        for user in users { add(user) }
    }

    /// How many there are.
    public var count: Int { users.count }

    /// Whether a user is among them.
    public func contains(_ user: UserID) -> Bool {
        users.contains(user)
    }

    /// Adds at the end; a present user keeps his place (R11).
    public mutating func add(_ user: UserID) {
        if !contains(user) { users.append(user) }
    }

    /// Removes; an absent user is no mistake (R11).
    public mutating func remove(_ user: UserID) {
        users.removeAll { other in other == user }
    }

    /// Whether both name the same users in whatever order (R3).
    public func isSameSet(as other: Participants) -> Bool {
        count == other.count && users.allSatisfy(other.contains)
    }
}
