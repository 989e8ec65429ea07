/// A message with the contents that its parts attach, so that both are imported together.
public struct ArchivedMessage: Equatable, Sendable {
    /// A participant's receipt for the message.
    public struct Recipient: Equatable, Sendable {
        /// The participant.
        public let user: UserID
        /// The participant's receipt.
        public let status: RecipientStatus
        /// Whether the participant does not see the message.
        public let isHidden: Bool

        /// A receipt.
        public init(_ user: UserID, status: RecipientStatus, isHidden: Bool) {
            self.user = user
            self.status = status
            self.isHidden = isHidden
        }
    }

    /// The message, with its parts ordered by creation number.
    public let message: Message
    /// The number of parts that the message ever had; `nil` if it equals the number of its parts.
    public let partsMade: Int64?
    /// The number that orders each part; `nil` for a part whose creation number orders it.
    public let places: [Int64?]
    /// The moment of the last change to a block list of the application before the message was sent; 0 for
    /// none.
    ///
    /// A block was in force at that time if its period contains this moment (ruling 20).
    public let blocksChangedAt: Timestamp
    /// The contents of its parts, without duplicates, in the order of the parts.
    public let contents: [ArchivedContent]
    /// The receipts of participants; empty if the record of the conversation has them. It cannot have them if the
    /// conversation was merged before this message was imported: its positions then belong to other messages.
    public let recipients: [Recipient]

    /// All members.
    ///
    /// - Parameter places: One for each part.
    public init(
        _ message: Message, partsMade: Int64? = nil, places: [Int64?],
        blocksChangedAt: Timestamp = Timestamp(milliseconds: 0), contents: [ArchivedContent] = [],
        recipients: [Recipient] = []
    ) {
        self.message = message
        self.partsMade = partsMade
        self.places = places
        self.blocksChangedAt = blocksChangedAt
        self.contents = contents
        self.recipients = recipients
    }

    /// Returns the message with contents.
    public func with(_ contents: [ArchivedContent]) -> ArchivedMessage {
        ArchivedMessage(
            message, partsMade: partsMade, places: places, blocksChangedAt: blocksChangedAt,
            contents: contents, recipients: recipients)
    }

    /// Returns the message with another position, in the same or another conversation, to which its contents move too.
    ///
    /// - Parameter recipients: The receipts of participants.
    public func moved(
        to position: Position, in target: Conversation.ID, recipients: [Recipient]
    ) -> ArchivedMessage {
        var moved = message
        moved.conversation = target
        moved.position = position
        return ArchivedMessage(
            moved, partsMade: partsMade, places: places, blocksChangedAt: blocksChangedAt,
            contents: contents.map { content in
                content.moved(from: message.conversation, to: target)
            }, recipients: recipients)
    }
}

/// A content with its owner; the bytes are transferred separately.
public struct ArchivedContent: Equatable, Sendable {
    /// The content.
    public let content: Content
    /// The user that it was uploaded for (R86); `nil` for the application.
    public let owner: UserID?

    /// All members.
    public init(_ content: Content, owner: UserID? = nil) {
        self.content = content
        self.owner = owner
    }

    /// Returns the content in another conversation, if it belongs to the given one.
    func moved(from conversation: Conversation.ID, to target: Conversation.ID) -> ArchivedContent {
        guard content.conversation == conversation else { return self }
        var content = content
        content.conversation = target
        return ArchivedContent(content, owner: owner)
    }
}

/// A scheduled message with the contents that it attaches.
public struct ArchivedScheduledMessage: Equatable, Sendable {
    /// The message.
    public let message: ScheduledMessage
    /// The contents of its parts, without duplicates, in the order of the parts.
    public let contents: [ArchivedContent]

    /// All members.
    public init(_ message: ScheduledMessage, contents: [ArchivedContent] = []) {
        self.message = message
        self.contents = contents
    }

    /// Returns the message for another conversation, to which its contents move too.
    public func moved(to target: Conversation.ID) -> ArchivedScheduledMessage {
        ArchivedScheduledMessage(
            ScheduledMessage(
                id: message.id, conversation: target, draft: message.draft, dueAt: message.dueAt,
                typingFrom: message.typingFrom),
            contents: contents.map { content in
                content.moved(from: message.conversation, to: target)
            })
    }
}

/// An announcement with the copies of its recipients.
public struct ArchivedAnnouncement: Equatable, Sendable {
    /// A recipient's copy.
    public struct Recipient: Equatable, Sendable {
        /// The recipient.
        public let user: UserID
        /// The recipient's receipt.
        public let status: RecipientStatus
        /// The moment when the recipient deleted the copy; `nil` if they did not.
        public let deletedAt: Timestamp?

        /// All members.
        public init(_ user: UserID, status: RecipientStatus, deletedAt: Timestamp? = nil) {
            self.user = user
            self.status = status
            self.deletedAt = deletedAt
        }
    }

    /// The announcement.
    public let announcement: Announcement
    /// The recipients in the order given.
    public let recipients: [Recipient]

    /// All members.
    public init(_ announcement: Announcement, recipients: [Recipient]) {
        self.announcement = announcement
        self.recipients = recipients
    }
}
