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

    /// An application as stored.
    public init(id: ID, name: String, createdAt: Timestamp, isSuspended: Bool = false) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        self.isSuspended = isSuspended
    }
}
