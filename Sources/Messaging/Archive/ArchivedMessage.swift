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

    /// The message, its parts by creation number.
    public let message: Message
    /// The number of parts the message ever had; `nil` for the number it was sent with.
    public let partsMade: Int64?
    /// The place of each part; `nil` for the order of creation numbers.
    public let places: [Int64?]
    /// The moment of the last change to a block list of the application before the message was sent; 0 for
    /// none.
    ///
    /// A block was in force at that time if its period contains this moment (rulings 20).
    public let blocksChangedAt: Timestamp
    /// The contents of its parts, without duplicates, in the order of the parts.
    public let contents: [ArchivedContent]
    /// The receipts of participants where the record of the conversation does not contain them: in a
    /// conversation that was merged before this message was imported, its positions are those of other
    /// messages.
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

    /// The same message with another position and perhaps another conversation, which its contents follow.
    ///
    /// - Parameter recipients: The receipts of participants.
    public func moved(
        to position: Position, in home: Conversation.ID, recipients: [Recipient]
    ) -> ArchivedMessage {
        ArchivedMessage(
            Message(
                id: message.id, conversation: home, position: position, sender: message.sender,
                sentAt: message.sentAt, parts: message.parts, updatedAt: message.updatedAt,
                version: message.version),
            partsMade: partsMade, places: places, blocksChangedAt: blocksChangedAt,
            contents: contents.map { content in content.moved(from: message.conversation, to: home)
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

    /// The same content in another conversation, if it belongs to the given one.
    func moved(from conversation: Conversation.ID, to home: Conversation.ID) -> ArchivedContent {
        guard content.conversation == conversation else { return self }
        var content = content
        content.conversation = home
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

    /// The same message for another conversation, which its contents follow.
    public func moved(to home: Conversation.ID) -> ArchivedScheduledMessage {
        ArchivedScheduledMessage(
            ScheduledMessage(
                id: message.id, conversation: home, draft: message.draft, dueAt: message.dueAt,
                typingFrom: message.typingFrom),
            contents: contents.map { content in
                content.moved(from: message.conversation, to: home)
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
