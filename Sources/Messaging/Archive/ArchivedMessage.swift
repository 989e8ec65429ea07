/// A message with the contents its parts attach, so that it is there whole or not at all.
public struct ArchivedMessage: Equatable, Sendable {
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
    public let contents: [ArchivedContent]
    /// What participants have made of it, where the record of its conversation does not say it: in a
    /// conversation that was merged before this message came, its positions are of other messages.
    public let recipients: [Recipient]

    /// A message as stored.
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

    /// The same message at another place, perhaps in another conversation, which its contents follow.
    ///
    /// - Parameter recipients: What participants have made of it.
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

/// A content with whoever uploaded it; its bytes travel beside it.
public struct ArchivedContent: Equatable, Sendable {
    /// The content.
    public let content: Content
    /// The user on whose behalf it was uploaded (R86); `nil` for the application.
    public let owner: UserID?

    /// A content as stored.
    public init(_ content: Content, owner: UserID? = nil) {
        self.content = content
        self.owner = owner
    }

    /// The same content in another conversation, if it belongs to the one.
    func moved(from conversation: Conversation.ID, to home: Conversation.ID) -> ArchivedContent {
        guard content.conversation == conversation else { return self }
        var content = content
        content.conversation = home
        return ArchivedContent(content, owner: owner)
    }
}

/// A message that waits to be sent, with the contents it will attach.
public struct ArchivedScheduledMessage: Equatable, Sendable {
    /// The message.
    public let message: ScheduledMessage
    /// The contents of its parts, each once, in the order of the parts.
    public let contents: [ArchivedContent]

    /// A message as stored.
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

/// An announcement with what its recipients have made of it.
public struct ArchivedAnnouncement: Equatable, Sendable {
    /// One recipient's copy.
    public struct Recipient: Equatable, Sendable {
        /// The recipient.
        public let user: UserID
        /// What he has made of it.
        public let status: RecipientStatus
        /// When he deleted his copy; `nil` while he has it.
        public let deletedAt: Timestamp?

        /// A recipient's copy.
        public init(_ user: UserID, status: RecipientStatus, deletedAt: Timestamp? = nil) {
            self.user = user
            self.status = status
            self.deletedAt = deletedAt
        }
    }

    /// The announcement.
    public let announcement: Announcement
    /// To whom, in the order of naming.
    public let recipients: [Recipient]

    /// An announcement as stored.
    public init(_ announcement: Announcement, recipients: [Recipient]) {
        self.announcement = announcement
        self.recipients = recipients
    }
}
