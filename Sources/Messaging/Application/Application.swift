/// A tenant of the server: every user, conversation and message belongs to exactly one application (X12).
public struct Application: Equatable, Sendable {
    /// The id of an application, which every path contains.
    public typealias ID = Identifier<Application>

    /// Its id.
    public let id: ID
    /// A name for operators; free text.
    public let name: String
    /// The moment of creation.
    public let createdAt: Timestamp
    /// Whether all requests with tokens of the application are rejected.
    public var isSuspended: Bool
    /// The lifetime of new sessions in seconds (R94); `nil` if it was never set.
    public var sessionLifetime: Int64?

    /// The allowed lifetimes of sessions, in seconds (platform-api §5.11).
    public static let sessionLifetimes: ClosedRange<Int64> = 30...31_536_000

    /// All members.
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

/// A credential of one application. Its secret is shown once; the server stores only its SHA-256 digest
/// (X12).
public struct Token: Equatable, Sendable {
    /// The id of a token; it does not reveal the secret.
    public typealias ID = Identifier<Token>

    /// The operations that a token allows; each scope includes those before it.
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

    /// The most bytes of a name of an application or a token.
    public static let nameLimit = 200

    /// Its id.
    public let id: ID
    /// A name for operators; free text, `nil` for none.
    public let name: String?
    /// The application that the token is for.
    public let application: Application.ID
    /// The operations that it allows.
    public let scope: Scope
    /// The moment of creation.
    public let createdAt: Timestamp
    /// From this moment the token is rejected; `nil` if it never expires.
    public let expiresAt: Timestamp?
    /// The moment of revocation; `nil` while it is valid.
    public var revokedAt: Timestamp?

    /// All members.
    public init(
        id: ID, name: String? = nil, application: Application.ID, scope: Scope,
        createdAt: Timestamp, expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.application = application
        self.scope = scope
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Whether the token is neither revoked nor expired at that moment.
    public func isValid(at now: Timestamp) -> Bool {
        guard revokedAt == nil else { return false }
        guard let expiresAt else { return true }
        return now < expiresAt
    }
}
