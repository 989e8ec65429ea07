/// The authentication of one device or browser of a user (client-api §2.3).
///
/// Its token is shown once; the server stores only the SHA-256 digest.
public struct Session: Equatable, Sendable {
    /// The id of a session; it does not reveal the token.
    public typealias ID = Identifier<Session>

    /// Its id.
    public let id: ID
    /// The user.
    public let user: UserID
    /// The moment of creation.
    public let createdAt: Timestamp
    /// From this moment the token is rejected; use does not change it.
    public let expiresAt: Timestamp
    /// The hour of the last use.
    public var lastUsedAt: Timestamp
    /// The `User-Agent` of the request that created it, at most ``userAgentLimit`` Unicode scalars; `nil` for none.
    public let userAgent: String?

    /// The lifetime of sessions in seconds where the application has set none: 30 days (client-api §2.3).
    public static let defaultLifetime: Int64 = 30 * 86_400
    /// The maximum number of sessions of a user; the oldest one ends when a further one begins.
    public static let limit = 1000
    /// The maximum number of Unicode scalars of a stored `User-Agent`; longer ones are cut.
    public static let userAgentLimit = 256

    /// All members.
    public init(
        id: ID, user: UserID, createdAt: Timestamp, expiresAt: Timestamp, lastUsedAt: Timestamp,
        userAgent: String?
    ) {
        self.id = id
        self.user = user
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.userAgent = userAgent
    }
}

/// A session of a user began.
public struct SessionCreated: EventPayload {
    /// The session, without its token.
    public let session: Session
    /// The SHA-256 digest of the token.
    public let digest: [UInt8]

    /// All members.
    public init(session: Session, digest: [UInt8]) {
        self.session = session
        self.digest = digest
    }

    /// The type of the event.
    public var type: EventType { .sessionCreated }

    /// The user.
    public var namedUsers: [UserID] { [session.user] }
}

/// One session of a user was ended before it expired.
public struct SessionEnded: EventPayload {
    /// The session.
    public let session: Session.ID
    /// Its user.
    public let user: UserID

    /// All members.
    public init(session: Session.ID, user: UserID) {
        self.session = session
        self.user = user
    }

    /// The type of the event.
    public var type: EventType { .sessionEnded }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}
