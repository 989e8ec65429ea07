/// The perspective of a request: its rights, and what its answer shows.
public enum Perspective: Sendable {
    /// The system, which sees and changes everything of the application.
    case system
    /// A user, which sees and changes what its participation allows.
    case user(UserID)

    /// The perspective of a user; without one, that of the system.
    public init(_ user: UserID?) {
        self = user.map(Perspective.user) ?? .system
    }

    /// The user; `nil` for the system.
    public var user: UserID? {
        switch self {
        case .system: nil
        case .user(let user): user
        }
    }
}
