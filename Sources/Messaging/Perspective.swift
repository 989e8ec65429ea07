/// The system or the user that a request acts for. It determines what the request may do and what its answer shows.
public enum Perspective: Sendable {
    /// The system, which sees and changes everything of the application.
    case system
    /// A user, which sees and changes what participants may.
    case user(UserID)

    /// Creates the perspective of a user; `nil` means the system.
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
