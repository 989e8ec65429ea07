/// Parts of a message were added, replaced or removed; its content is otherwise what was sent (R20).
public struct PartsChanged: Equatable, Sendable {
    /// Both names of a part that is gone.
    public struct Removed: Equatable, Sendable {
        /// Its id.
        public let id: MessagePart.ID
        /// Its creation number.
        public let index: Int

        /// A part that is gone.
        public init(id: MessagePart.ID, index: Int) {
            self.id = id
            self.index = index
        }
    }

    /// The message.
    public let message: Message.ID
    /// Where it is.
    public let conversation: Conversation.ID
    /// Parts that were not there before.
    public let created: [MessagePart]
    /// Parts that have another body or type now, and their names still.
    public let updated: [MessagePart]
    /// Parts that are gone.
    public let removed: [Removed]
    /// The creation numbers of all parts in their new order; `nil` when none has moved, new ones
    /// being the last.
    public let order: [Int]?
    /// How many parts the message has ever had: the next creation number (platform-api 1.3).
    public let made: Int
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        message: Message.ID, conversation: Conversation.ID, created: [MessagePart] = [],
        updated: [MessagePart] = [], removed: [Removed] = [], order: [Int]? = nil, made: Int,
        at moment: Timestamp
    ) {
        self.message = message
        self.conversation = conversation
        self.created = created
        self.updated = updated
        self.removed = removed
        self.order = order
        self.made = made
        at = moment
    }
}
