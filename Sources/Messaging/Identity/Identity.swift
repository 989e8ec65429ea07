/// A user and what the application has told about him; he exists from being named on (R90).
public struct Identity: Equatable, Sendable {
    /// Person or program.
    public enum Kind: String, Sendable {
        case user, bot
    }

    /// The user.
    public let userID: UserID
    /// His display name; `nil` until one is given.
    public var displayName: String?
    /// Where his picture is.
    public var avatarURL: String?
    /// Person or program.
    public var kind: Kind

    /// An identity as stored.
    public init(
        userID: UserID, displayName: String? = nil, avatarURL: String? = nil, kind: Kind = .user
    ) {
        self.userID = userID
        self.displayName = displayName
        self.avatarURL = avatarURL
        self.kind = kind
    }

    /// What objects mentioning this user show of him.
    public var basic: BasicIdentity {
        BasicIdentity(
            userID: userID, displayName: displayName, avatarURL: avatarURL, kind: kind)
    }
}
