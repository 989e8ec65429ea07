/// Something said in a conversation; content and sender never change after sending (R20).
public struct Message: Equatable, Sendable {
    /// Names one message.
    public typealias ID = Identifier<Message>

    /// Most parts of a message (platform-api 3.4).
    public static let partLimit = 1000

    /// Its name.
    public let id: ID
    /// The one conversation it belongs to.
    public let conversation: Conversation.ID
    /// Its place there.
    public let position: Position
    /// Who sent it.
    public let sender: Sender
    /// When, never before the message in front of it (R26).
    public let sentAt: Timestamp
    /// Its parts in the order sent (R25).
    public let parts: [MessagePart]
    /// When a part was last changed; `nil` since sending.
    public let updatedAt: Timestamp?
    /// Rises with its parts; from one (X4).
    public let version: Int64

    /// A message as stored.
    public init(
        id: ID, conversation: Conversation.ID, position: Position, sender: Sender,
        sentAt: Timestamp, parts: [MessagePart], updatedAt: Timestamp? = nil, version: Int64 = 1
    ) {
        self.id = id
        self.conversation = conversation
        self.position = position
        self.sender = sender
        self.sentAt = sentAt
        self.parts = parts
        self.updatedAt = updatedAt
        self.version = version
    }
}
