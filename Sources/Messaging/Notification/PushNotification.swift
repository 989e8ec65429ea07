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
