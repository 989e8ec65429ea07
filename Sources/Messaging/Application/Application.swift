/// One isolated tenant: every user, conversation and message belongs to exactly one (X12).
public struct Application: Equatable, Sendable {
    /// Names an application; its UUID stands in every path.
    public typealias ID = Identifier<Application>

    /// Its name for ever.
    public let id: ID
    /// What operators call it; free text.
    public let name: String
    /// When it was made.
    public let createdAt: Timestamp
    /// Whether its tokens are refused for now.
    public var isSuspended: Bool
    /// How many seconds its sessions live that begin from now on (R94); `nil` while it is not set.
    public var sessionLifetime: Int64?

    /// The lives a session may have, in seconds (platform-api §5.11).
    public static let sessionLifetimes: ClosedRange<Int64> = 30...31_536_000

    /// An application as stored.
    public init(
        id: ID, name: String, createdAt: Timestamp, isSuspended: Bool = false,
        sessionLifetime: Int64? = nil
    ) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.isSuspended = isSuspended
        self.sessionLifetime = sessionLifetime
    }
}

/// A credential of one application; its secret is shown once and known only by its SHA-256 (X12).
public struct Token: Equatable, Sendable {
    /// Names a token without revealing its secret.
    public typealias ID = Identifier<Token>

    /// What a token may do; each scope includes those before it.
    public enum Scope: String, CaseIterable, Comparable, Sendable {
        case read, write, admin

        /// The narrower scope comes first.
        public static func < (left: Self, right: Self) -> Bool {
            left.rank < right.rank
        }

        private var rank: Int {
            switch self {
            case .read: 0
            case .write: 1
            case .admin: 2
            }
        }
    }

    /// Its name for lists and revocation.
    public let id: ID
    /// The only application it opens.
    public let application: Application.ID
    /// What it may do.
    public let scope: Scope
    /// When it was made.
    public let createdAt: Timestamp
    /// From when on it is refused; `nil` for never.
    public let expiresAt: Timestamp?
    /// Since when it is refused by hand; `nil` while it holds.
    public var revokedAt: Timestamp?

    /// A token as stored.
    public init(
        id: ID, application: Application.ID, scope: Scope, createdAt: Timestamp,
        expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.application = application
        self.scope = scope
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Whether the token opens anything at that moment.
    public func isValid(at now: Timestamp) -> Bool {
        guard revokedAt == nil else { return false }
        guard let expiresAt else { return true }
        return now < expiresAt
    }
}
