/// A message with the contents its parts attach, so that it is there whole or not at all.
public struct MovedMessage: Equatable, Sendable {
    /// What one participant has made of the message.
    public struct Recipient: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// The participant's receipt.
        public let status: RecipientStatus
        /// Whether the participant does not see the message.
        public let isHidden: Bool

        /// A participant's part in a message.
        public init(_ user: UserID, status: RecipientStatus, isHidden: Bool) {
            self.user = user
            self.status = status
            self.isHidden = isHidden
        }
    }

    /// The message; its parts in the order in which they were made.
    public let message: Message
    /// How many parts it has ever had; `nil` for those it was sent with.
    public let partsMade: Int64?
    /// Where each part stands; `nil` for the order in which they were made.
    public let places: [Int64?]
    /// When a block list of its application last changed before it was sent; 0 for never.
    ///
    /// A block was in force at the sending if its period contains this moment (rulings 20).
    public let blocksChangedAt: Timestamp
    /// The contents of its parts, each once, in the order of the parts.
    public let contents: [MovedContent]
    /// What participants have made of it, where the record of its conversation does not say it: in a
    /// conversation that was merged before this message came, its positions are of other messages.
    public let recipients: [Recipient]

    /// A message as stored.
    ///
    /// - Parameter places: One for each part.
    public init(
        _ message: Message, partsMade: Int64? = nil, places: [Int64?],
        blocksChangedAt: Timestamp = Timestamp(milliseconds: 0), contents: [MovedContent] = [],
        recipients: [Recipient] = []
    ) {
        self.message = message
        self.partsMade = partsMade
        self.places = places
        self.blocksChangedAt = blocksChangedAt
        self.contents = contents
        self.recipients = recipients
    }

    /// The same message at another place, perhaps in another conversation, which its contents follow.
    ///
    /// - Parameter recipients: What participants have made of it.
    public func moved(
        to position: Position, in home: Conversation.ID, recipients: [Recipient]
    ) -> MovedMessage {
        MovedMessage(
            Message(
                id: message.id, conversation: home, position: position, sender: message.sender,
                sentAt: message.sentAt, parts: message.parts, updatedAt: message.updatedAt,
                version: message.version),
            partsMade: partsMade, places: places, blocksChangedAt: blocksChangedAt,
            contents: contents.map { content in content.moved(from: message.conversation, to: home)
            }, recipients: recipients)
    }
}
