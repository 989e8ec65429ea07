/// Something said to many users at once, outside any conversation (R100, R101).
public struct Announcement: Equatable, Sendable {
    /// Names one announcement.
    public typealias ID = Identifier<Announcement>

    /// Most recipients (platform-api §5.5).
    public static let recipientLimit = 10_000

    /// Its name.
    public let id: ID
    /// Who announces: a service in 1.x, a user from 2.0 on.
    public let sender: Sender
    /// When it was announced.
    public let sentAt: Timestamp
    /// Its parts in the order sent (R25); their bytes are in the announcement itself.
    public let parts: [MessagePart]

    /// An announcement as stored.
    public init(id: ID, sender: Sender, sentAt: Timestamp, parts: [MessagePart]) {
        self.id = id
        self.sender = sender
        self.sentAt = sentAt
        self.parts = parts
    }
}
