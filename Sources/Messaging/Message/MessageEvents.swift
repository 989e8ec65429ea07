/// A message was sent.
public struct MessageSent: EventPayload {
    /// The message.
    public let message: Message
    /// The notification as received, JSON; `nil` for none.
    public let notification: [UInt8]?
    /// The `If-None-Match` key of the message; `nil` for none.
    public let key: Replay.Key?

    /// All members.
    public init(message: Message, notification: [UInt8]? = nil, key: Replay.Key? = nil) {
        self.message = message
        self.notification = notification
        self.key = key
    }

    /// The type of the event.
    public var type: EventType { .messageSent }

    /// The author of the change.
    public var author: EventActor? { EventActor(message.sender) }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [message.conversation] }
}

/// A message was accepted to be sent later.
public struct MessageScheduled: EventPayload {
    /// The message.
    public let message: ScheduledMessage
    /// The `If-None-Match` key of the message; `nil` for none.
    public let key: Replay.Key?

    /// All members.
    public init(message: ScheduledMessage, key: Replay.Key? = nil) {
        self.message = message
        self.key = key
    }

    /// The type of the event.
    public var type: EventType { .messageScheduled }

    /// The author of the change.
    public var author: EventActor? { EventActor(message.draft.sender) }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [message.conversation] }
}

/// A scheduled message was sent, or dropped because its conversation or sender no longer exists.
public struct ScheduleEnded: EventPayload {
    /// The message.
    public let message: Message.ID
    /// Whether it was sent.
    public let isSent: Bool
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(message: Message.ID, isSent: Bool, at: Timestamp) {
        self.message = message
        self.isSent = isSent
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .scheduleEnded }
}

/// A batch of messages was accepted.
public struct BatchAccepted: EventPayload {
    /// The `If-None-Match` key of the batch.
    public let key: Replay.Key
    /// The conversation of the messages.
    public let conversation: Conversation.ID

    /// All members.
    public init(key: Replay.Key, conversation: Conversation.ID) {
        self.key = key
        self.conversation = conversation
    }

    /// The type of the event.
    public var type: EventType { .batchAccepted }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }
}

/// Parts of a message were added, replaced or removed (R20).
public struct PartsChanged: EventPayload {
    /// A removed part.
    public struct Removed: Equatable, Sendable {
        /// Its id.
        public let id: MessagePart.ID
        /// Its creation number.
        public let index: Int

        /// A part with this id and creation number.
        public init(id: MessagePart.ID, index: Int) {
            self.id = id
            self.index = index
        }
    }

    /// The message.
    public let message: Message.ID
    /// The conversation of the message.
    public let conversation: Conversation.ID
    /// The added parts.
    public let created: [MessagePart]
    /// The parts with a new body or type; their ids are unchanged.
    public let updated: [MessagePart]
    /// The removed parts.
    public let removed: [Removed]
    /// The creation numbers of all parts in their new order; `nil` if the order is unchanged and added parts are last.
    public let order: [Int]?
    /// The number of parts that the message ever had, which is the next creation number (platform-api §1.3).
    public let partsMade: Int
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        message: Message.ID, conversation: Conversation.ID, created: [MessagePart] = [],
        updated: [MessagePart] = [], removed: [Removed] = [], order: [Int]? = nil, partsMade: Int,
        at: Timestamp
    ) {
        self.message = message
        self.conversation = conversation
        self.created = created
        self.updated = updated
        self.removed = removed
        self.order = order
        self.partsMade = partsMade
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .messageUpdated }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }
}

/// A participant received or read messages for the first time.
public struct ReceiptsRecorded: EventPayload {
    /// The conversation.
    public let conversation: Conversation.ID
    /// The participant.
    public let user: UserID
    /// Whether they were received or read.
    public let kind: Receipts.Kind
    /// The positions for which the receipt is new.
    ///
    /// At least one is the position of another sender's message. Positions of the participant's own and of deleted
    /// messages in between, where a receipt has no meaning, may be included, so that reading a long conversation is one
    /// interval.
    public let positions: IntervalSet
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        conversation: Conversation.ID, user: UserID, kind: Receipts.Kind, positions: IntervalSet,
        at: Timestamp
    ) {
        self.conversation = conversation
        self.user = user
        self.kind = kind
        self.positions = positions
        self.at = at
    }

    /// The type of the event.
    public var type: EventType {
        switch kind {
        case .delivery: .messageDelivered
        case .read: .messageRead
        }
    }

    /// The author of the change.
    public var author: EventActor? { .user(user) }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A user deleted a message from their own view (R29).
public struct MessageHidden: EventPayload {
    /// The message.
    public let message: Message.ID
    /// Its conversation.
    public let conversation: Conversation.ID
    /// Its position.
    public let position: Position
    /// The user.
    public let user: UserID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        message: Message.ID, conversation: Conversation.ID, position: Position, user: UserID,
        at: Timestamp
    ) {
        self.message = message
        self.conversation = conversation
        self.position = position
        self.user = user
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .messageHidden }

    /// The author of the change.
    public var author: EventActor? { .user(user) }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [conversation] }

    /// The user.
    public var namedUsers: [UserID] { [user] }
}

/// A message was deleted for all (R29).
public struct MessageDeleted: EventPayload {
    /// A participant's receipt for the message.
    public struct Recipient: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// The status of the message for the participant.
        public let status: RecipientStatus

        /// A receipt.
        public init(user: UserID, status: RecipientStatus) {
            self.user = user
            self.status = status
        }
    }

    /// The message before its deletion (webhooks §4.2).
    public let message: Message
    /// One entry for each participant at sending time, in the order of the participants (R71).
    public let recipients: [Recipient]
    /// In a wide conversation, instead of the recipients, their number in each status (ruling 38).
    public let recipientCounts: RecipientCounts?
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(
        message: Message, recipients: [Recipient], recipientCounts: RecipientCounts? = nil,
        at: Timestamp
    ) {
        self.message = message
        self.recipients = recipients
        self.recipientCounts = recipientCounts
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .messageDeleted }

    /// The conversation.
    public var namedConversations: [Conversation.ID] { [message.conversation] }
}
