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
