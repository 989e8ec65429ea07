/// A message was sent.
public struct MessageSent: Equatable, Sendable {
    /// The message.
    public let message: Message
    /// The notification as it came, JSON; for those who push.
    public let notification: [UInt8]?
    /// The key under which the sending is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(message: Message, notification: [UInt8]? = nil, key: Replay.Key? = nil) {
        self.message = message
        self.notification = notification
        self.key = key
    }
}

/// A message was accepted that will be sent later.
public struct MessageScheduled: Equatable, Sendable {
    /// The message.
    public let message: ScheduledMessage
    /// The key under which the scheduling is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(message: ScheduledMessage, key: Replay.Key? = nil) {
        self.message = message
        self.key = key
    }
}

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

/// A participant received or read messages he had not yet.
public struct ReceiptsRecorded: Equatable, Sendable {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The participant.
    public let user: UserID
    /// Received or read.
    public let kind: Receipts.Kind
    /// The positions it is new for.
    ///
    /// At least one is another's message; between them may lie his own and deleted ones, which a
    /// receipt means nothing to, so that marking a long conversation is one interval.
    public let positions: IntervalSet
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        conversation: Conversation.ID, user: UserID, kind: Receipts.Kind, positions: IntervalSet,
        at moment: Timestamp
    ) {
        self.conversation = conversation
        self.user = user
        self.kind = kind
        self.positions = positions
        at = moment
    }
}

/// A user deleted one message for himself (R29).
public struct MessageHidden: Equatable, Sendable {
    /// The message.
    public let message: Message.ID
    /// Its conversation.
    public let conversation: Conversation.ID
    /// Its place there.
    public let position: Position
    /// Whose view it is gone from.
    public let user: UserID
    /// When.
    public let at: Timestamp

    /// What happened.
    public init(
        message: Message.ID, conversation: Conversation.ID, position: Position, user: UserID,
        at moment: Timestamp
    ) {
        self.message = message
        self.conversation = conversation
        self.position = position
        self.user = user
        at = moment
    }
}

/// A message was deleted for all, and was this before (R29, webhooks §4.2).
public struct MessageRemoved: Equatable, Sendable {
    /// What a participant had made of it.
    public struct Recipient: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// How far it had come to him.
        public let status: RecipientStatus

        /// What a participant had made of it.
        public init(user: UserID, status: RecipientStatus) {
            self.user = user
            self.status = status
        }
    }

    /// The message as it was last.
    public let message: Message
    /// One entry for each participant at sending time, in the order of naming (R71).
    public let recipients: [Recipient]
    /// When it was deleted.
    public let at: Timestamp

    /// What happened.
    public init(message: Message, recipients: [Recipient], at moment: Timestamp) {
        self.message = message
        self.recipients = recipients
        at = moment
    }
}
