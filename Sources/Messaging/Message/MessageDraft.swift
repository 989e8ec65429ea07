extension Message {
    /// A message somebody wants to send; what can be checked without look-ups has been.
    public struct Draft: Equatable, Sendable {
        /// Which users may send beside the current participants (rulings 10).
        public enum Admission: Equatable, Sendable {
            /// None: 1.x.
            case participants
            /// Everybody who has an identity: 2.0 and later.
            case identities
        }

        /// Who sends.
        public let sender: Sender
        /// Who may send.
        public let admission: Admission
        /// The member that named the sender, for rejections: `sender_id` or `sender.user_id`.
        public let senderProperty: String
        /// 1 to 1000 parts.
        public let parts: [MessagePart.Draft]
        /// The notification as it came, JSON.
        public let notification: [UInt8]?
        /// The id the caller names in the body.
        public let proposedID: Message.ID?

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
