/// A user, who exists from being named on (R90), and what the server keeps of him.
public struct User: Equatable, Sendable {
    /// How he comes to have an identity.
    public enum Standing: Int64, Sendable {
        /// He has none: it was deleted, or nothing that named him makes one.
        case unknown = 0
        /// Being named made him one without names (rulings 10).
        case named = 1
        /// The application has told who he is.
        case told = 2
    }

    /// His identity; without names where there is none.
    public let identity: Identity
    /// How he comes to have it.
    public let standing: Standing
    /// Rises with each change of the identity, its deletion included (X4).
    public let identityVersion: Int64
    /// Whether he may not log in (R93).
    public let isSuspended: Bool
    /// Sessions that began up to then have ended (R92); `nil` when none was ever ended.
    public let sessionsEndedAt: Timestamp?

    /// A user as stored.
    public init(
        identity: Identity, standing: Standing, identityVersion: Int64, isSuspended: Bool,
        sessionsEndedAt: Timestamp?
    ) {
        self.identity = identity
        self.standing = standing
        self.identityVersion = identityVersion
        self.isSuspended = isSuspended
        self.sessionsEndedAt = sessionsEndedAt
    }

    /// The application's name of him.
    public var id: UserID { identity.userID }

    /// His identity; `nil` where there is none (platform-api §3.8).
    public var knownIdentity: Identity? { standing == .unknown ? nil : identity }
}
