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
