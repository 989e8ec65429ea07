/// A message to many users outside any conversation (R100, R101).
public struct Announcement: Equatable, Sendable {
    /// The id of an announcement.
    public typealias ID = Identifier<Announcement>

    /// The maximum number of recipients (platform-api §5.5).
    public static let recipientLimit = 10_000

    /// Its id.
    public let id: ID
    /// The sender: a service in 1.x, a user from 2.0 on.
    public let sender: Sender
    /// The moment of sending.
    public let sentAt: Timestamp
    /// The parts in the order sent (R25), with inline bodies only.
    public let parts: [MessagePart]

    /// All members.
    public init(id: ID, sender: Sender, sentAt: Timestamp, parts: [MessagePart]) {
        self.id = id
        self.sender = sender
        self.sentAt = sentAt
        self.parts = parts
    }
}

extension Announcement {
    /// A validated announcement to send; only checks that need the store remain.
    public struct Draft: Equatable, Sendable {
        /// The recipients: 1 to 10,000 users, without duplicates, in the order given.
        fileprivate let recipients: [UserID]
        /// The sender.
        public let sender: Sender
        /// The member that named the sender, for rejections: `sender_id` or `sender.user_id`.
        fileprivate let senderProperty: String
        /// The parts: 1 to 1000, with inline bodies.
        public let parts: [MessagePart.Draft]
        /// The notification as received, JSON; `nil` for none.
        fileprivate let notification: [UInt8]?
        /// The id that the caller proposes; `nil` for none.
        public let proposedID: Announcement.ID?

        /// Validates an announcement.
        ///
        /// - Throws: `invalid("recipients")` for none or more than 10,000; `invalid("parts")` for none or more than
        ///   1000 (R20); `invalid("parts.content")` for a part that attaches a content, because contents belong to
        ///   conversations (R24) and an announcement does not.
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
    /// Returns the event of sending an announcement.
    ///
    /// - Parameters:
    ///   - hasIdentity: Whether a sending user has an identity.
    ///   - partIDs: Creates the id of the part at an index, if the draft proposes none.
    ///   - key: The `If-None-Match` key of the announcement.
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

/// A notification for the devices of users, without a message (platform-api §5.6).
public enum PushNotification {
    /// A validated notification to send.
    public struct Draft: Equatable, Sendable {
        /// The recipients: 1 to 10,000 users, without duplicates, in the order given.
        public let recipients: [UserID]
        /// The notification as received, JSON.
        public let notification: [UInt8]

        /// Validates a notification.
        ///
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

    /// How long a key detects a repeat, in milliseconds: 24 h (platform-api §1.9, rule 7).
    public static let keyLifetime: Int64 = 24 * 60 * 60 * 1000
}
