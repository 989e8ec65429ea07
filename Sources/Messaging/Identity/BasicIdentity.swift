/// What every object shows of a user it mentions (platform-api 3.1).
public struct BasicIdentity: Equatable, Sendable {
    /// The user.
    public let userID: UserID
    /// His display name; `nil` for one who was only ever named (rulings 10).
    public let displayName: String?
    /// Where his picture is.
    public let avatarURL: String?
    /// Whether a person or a program: 1.x shows programs by their display name (platform-api 1.3).
    public let kind: Identity.Kind

    /// A user as objects show him.
    public init(
        userID: UserID, displayName: String? = nil, avatarURL: String? = nil,
        kind: Identity.Kind = .user
    ) {
        self.userID = userID
        self.displayName = displayName
        self.avatarURL = avatarURL
        self.kind = kind
    }
}
