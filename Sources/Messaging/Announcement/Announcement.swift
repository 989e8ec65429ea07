/// Something said to many users at once, outside any conversation (R100, R101).
public struct Announcement: Equatable, Sendable {
    /// Names one announcement.
    public typealias ID = Identifier<Announcement>

    /// Most recipients (platform-api §5.5).
    public static let recipientLimit = 10_000

    /// Its name.
    public let id: ID
    /// Who announces: a service in 1.x, a user from 2.0 on.
    public let sender: Sender
    /// When it was announced.
    public let sentAt: Timestamp
    /// Its parts in the order sent (R25); their bytes are in the announcement itself.
    public let parts: [MessagePart]

    /// An announcement as stored.
    public init(id: ID, sender: Sender, sentAt: Timestamp, parts: [MessagePart]) {
        self.id = id
        self.sender = sender
        self.sentAt = sentAt
        self.parts = parts
    }
}

extension Announcement {
    /// An announcement somebody wants to make; what can be checked without look-ups has been.
    public struct Draft: Equatable, Sendable {
        /// To whom: 1 to 10,000 users, everybody once, in the order of naming.
        public let recipients: [UserID]
        /// Who announces.
        public let sender: Sender
        /// The member that named the sender, for rejections: `sender_id` or `sender.user_id`.
        public let senderProperty: String
        /// 1 to 1000 parts with bytes of their own.
        public let parts: [MessagePart.Draft]
        /// The notification as it came, JSON.
        public let notification: [UInt8]?
        /// The id the caller names in the body.
        public let proposedID: Announcement.ID?

        /// - Throws: `invalid("recipients")` for none or more than 10,000; `invalid("parts")` for
        ///   none or more than 1000 (R20); `invalid("parts.content")` for a part that attaches a
        ///   content, which belongs to a conversation (R24) and an announcement to none.
        public init(
            recipients: [UserID], sender: Sender, senderProperty: String = "sender_id",
            parts: [MessagePart.Draft], notification: [UInt8]? = nil,
            proposedID: Announcement.ID? = nil
        ) throws(Rejection) {
            guard (1...Announcement.recipientLimit).contains(recipients.count) else {
                throw .invalid(
                    "recipients", .recipientCount, .init(amount: recipients.count))
            }
            guard (1...Message.partLimit).contains(parts.count) else {
                throw .invalid("parts", .partCount, .init(amount: parts.count))
            }
            for case .content in parts.map(\.body) {
                throw .invalid("parts.content", .announcementContent)
            }
            self.recipients = recipients
            self.sender = sender
            self.senderProperty = senderProperty
            self.parts = parts
            self.notification = notification
            self.proposedID = proposedID
        }
    }
}

extension Announcement {
    /// Decides an announcement: what to remember comes back as an event.
    ///
    /// - Parameters:
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - partIDs: Makes a name for each part that has none.
    ///   - key: The key under which the announcement is replayed.
    /// - Throws: `invalid` with the draft's sender property for a user without an identity.
    public static func creating(
        _ draft: Draft, hasIdentity: Bool, as id: ID, partIDs: (Int) -> MessagePart.ID,
        key: Replay.Key? = nil, at now: Timestamp
    ) throws(Rejection) -> Event {
        guard draft.sender.userID == nil || hasIdentity else {
            throw .invalid(draft.senderProperty, .announcementSenderIdentity)
        }
        let parts = draft.parts.enumerated().map { index, part in
            MessagePart(
                id: part.proposedID ?? partIDs(index), index: index, mimeType: part.mimeType,
                body: part.body)
        }
        return .announcementSent(
            AnnouncementSent(
                announcement: Announcement(
                    id: id, sender: draft.sender, sentAt: now, parts: parts),
                recipients: draft.recipients, notification: draft.notification, key: key))
    }
}

/// What shall show on the devices of some users, without a message (platform-api §5.6).
public enum PushNotification {
    /// A notification somebody wants to send; what can be checked without look-ups has been.
    public struct Draft: Equatable, Sendable {
        /// To whom: 1 to 10,000 users, everybody once, in the order of naming.
        public let recipients: [UserID]
        /// The notification as it came, JSON.
        public let notification: [UInt8]

        /// - Throws: `invalid("recipients")` for none or more than 10,000.
        public init(recipients: [UserID], notification: [UInt8]) throws(Rejection) {
            guard (1...Announcement.recipientLimit).contains(recipients.count) else {
                throw .invalid(
                    "recipients", .recipientCount, .init(amount: recipients.count))
            }
            self.recipients = recipients
            self.notification = notification
        }
    }

    /// How long a key recognises a repeat, in milliseconds: 24 h (platform-api §1.9, rule 7).
    public static let keyLifetime: Int64 = 24 * 60 * 60 * 1000
}
