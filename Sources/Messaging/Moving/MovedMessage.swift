/// A message with the contents its parts attach, so that it is there whole or not at all.
public struct MovedMessage: Equatable, Sendable {
    /// The message; its parts in the order in which they were made.
    public let message: Message
    /// How many parts it has ever had; `nil` for those it was sent with.
    public let partsMade: Int64?
    /// Where each part stands; `nil` for the order in which they were made.
    public let places: [Int64?]
    /// The contents of its parts, each once, in the order of the parts.
    public let contents: [MovedContent]

    /// A message as stored.
    ///
    /// - Parameter places: One for each part.
    public init(
        _ message: Message, partsMade: Int64? = nil, places: [Int64?], contents: [MovedContent] = []
    ) {
        self.message = message
        self.partsMade = partsMade
        self.places = places
        self.contents = contents
    }

    /// The same message at another place, perhaps in another conversation, which its contents follow.
    public func moved(to position: Position, in home: Conversation.ID) -> MovedMessage {
        MovedMessage(
            Message(
                id: message.id, conversation: home, position: position, sender: message.sender,
                sentAt: message.sentAt, parts: message.parts, updatedAt: message.updatedAt,
                version: message.version),
            partsMade: partsMade, places: places,
            contents: contents.map { content in content.moved(from: message.conversation, to: home)
            }
        )
    }
}
