/// A message of a conversation; only its parts change (R20), except that a merge moves it to another conversation and
/// position (X1).
public struct Message: Equatable, Sendable {
    /// The id of a message.
    public typealias ID = Identifier<Message>

    /// The maximum number of parts (platform-api §3.4).
    public static let partLimit = 1000

    /// Its id.
    public let id: ID
    /// The conversation of the message.
    public var conversation: Conversation.ID
    /// Its position in the conversation.
    public var position: Position
    /// The sender.
    public let sender: Sender
    /// The moment of sending, never earlier than that of the previous message (R26).
    public let sentAt: Timestamp
    /// Its parts in the order sent (R25).
    public var parts: [MessagePart]
    /// The moment of the last change of a part; `nil` for none.
    public var updatedAt: Timestamp?
    /// The version: 1 at first, and higher after each change of the parts (X4).
    public var version: Int64

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

/// The sender of a message: a user, or a service that has only a name (platform-api §5.2.1).
public enum Sender: Equatable, Sendable {
    case user(UserID)
    case named(String)

    /// Creates a service with a name.
    ///
    /// - Throws: `invalid("sender.name")` unless the name has 1 to 128 Unicode scalars, none of them
    ///   U+0000.
    public static func service(_ name: String) throws(Rejection) -> Sender {
        guard !name.isEmpty, name.unicodeScalars.prefix(129).count <= 128, name.isStorable else {
            throw .invalid("sender.name", .senderName)
        }
        return .named(name)
    }

    /// The user; `nil` for a service.
    public var userID: UserID? {
        switch self {
        case .user(let user): user
        case .named: nil
        }
    }
}

/// The position of a message in its conversation: from 1, assigned at commit in increasing order (R26).
///
/// Deletions and merges leave positions without a message.
public struct Position: Hashable, Comparable, Sendable {
    /// The number, from 1; 0 is before the first message.
    public let number: Int64

    /// The position with that number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The position before the first message.
    public static let start = Position(0)

    /// The position after every possible message.
    public static let last = Position(.max)

    /// The next position; ``last`` for the last one.
    public var next: Position { self == .last ? self : Position(number + 1) }

    /// The earlier position comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.number < right.number
    }
}

extension Message {
    /// The transfer state of all parts of a message (X7, R81).
    ///
    /// A message may only attach complete contents (R24), so all bytes are received.
    public struct Transfer: Equatable, Sendable {
        /// The number of bytes of all parts.
        public let bytes: Int64
        /// The number of received bytes.
        public let received: Int64

        /// The received fraction, from 0 to 1; 1 if there are no bytes.
        public var fraction: Double { bytes == 0 ? 1 : Double(received) / Double(bytes) }
    }

    /// The transfer state of its parts.
    public var transfer: Transfer {
        let bytes = parts.reduce(0) { sum, part in sum + part.size }
        return Transfer(bytes: bytes, received: bytes)
    }
}

extension Message {
    /// A validated message to send; only checks that need the store remain.
    public struct Draft: Equatable, Sendable {
        /// Which users besides participants may send (ruling 10).
        public enum Admission: Equatable, Sendable {
            /// No other users: in 1.x.
            case participants
            /// Users with an identity: in 2.0 and later.
            case identities
        }

        /// The sender.
        public let sender: Sender
        /// Which users besides participants may send.
        public let admission: Admission
        /// The member that named the sender, for rejections: `sender_id` or `sender.user_id`.
        public let senderProperty: String
        /// The parts: 1 to 1000.
        public let parts: [MessagePart.Draft]
        /// The notification as received, JSON; `nil` for none.
        public let notification: [UInt8]?
        /// The id that the caller proposes; `nil` for none.
        public let proposedID: Message.ID?

        /// Validates a message.
        ///
        /// - Throws: `invalid("parts")` for none or more than 1000 (R20).
        public init(
            sender: Sender, admission: Admission = .participants,
            senderProperty: String = "sender.user_id", parts: [MessagePart.Draft],
            notification: [UInt8]? = nil, proposedID: Message.ID? = nil
        ) throws(Rejection) {
            guard (1...Message.partLimit).contains(parts.count) else {
                throw .invalid("parts", .partCount, .init(amount: parts.count))
            }
            self.sender = sender
            self.admission = admission
            self.senderProperty = senderProperty
            self.parts = parts
            self.notification = notification
            self.proposedID = proposedID
        }
    }
}

extension Conversation {
    /// Returns the event of sending a message.
    ///
    /// - Parameters:
    ///   - draft: The message to send.
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - contents: The contents that the draft may attach.
    ///   - id: The id of the message.
    ///   - partIDs: Creates the id of the part at an index, if the draft proposes none.
    ///   - key: The `If-None-Match` key of the message.
    /// - Throws: `objectDeleted`; `invalid` with the draft's sender property for a user that may not send
    ///   (ruling 10); `invalid("parts.content")` for a content that is incomplete or belongs to another
    ///   conversation (R24); `invalid("parts.id")` for two parts with the same id; `invalid("parts")` for
    ///   more bytes than the limits allow (R23).
    public func posting(
        _ draft: Message.Draft, hasIdentity: Bool, contents: [Content.ID: Content],
        _ limits: MessagingLimits, as id: Message.ID, partIDs: (Int) -> MessagePart.ID,
        key: Replay.Key? = nil, at now: Timestamp
    ) throws(Rejection) -> Event {
        guard deletedAt == nil else { throw .objectDeleted }
        try admit(draft, hasIdentity: hasIdentity)
        var parts: [MessagePart] = []
        parts.reserveCapacity(draft.parts.count)
        for (index, part) in draft.parts.enumerated() {
            parts.append(
                MessagePart(
                    id: part.proposedID ?? partIDs(index), index: index, mimeType: part.mimeType,
                    body: try part.body(from: contents)))
        }
        let message = Message(
            id: id, conversation: self.id, position: lastPosition.next, sender: draft.sender,
            sentAt: max(now, lastSentAt ?? now), parts: parts)
        try message.checkParts(limits)
        return .messageSent(
            MessageSent(message: message, notification: draft.notification, key: key))
    }

    private func admit(_ draft: Message.Draft, hasIdentity: Bool) throws(Rejection) {
        guard let user = draft.sender.userID, !participants.contains(user) else { return }
        switch draft.admission {
        case .participants: throw .invalid(draft.senderProperty, .senderParticipant)
        case .identities:
            guard hasIdentity else { throw .invalid(draft.senderProperty, .senderIdentity) }
        }
    }
}
