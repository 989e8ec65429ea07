/// A message was sent.
public struct MessageSent: Equatable, Sendable {
    /// The message.
    public let message: Message
    /// The notification as it came, JSON; for those who push.
    public let notification: [UInt8]?
    /// The key under which the sending is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(message: Message, notification: [UInt8]? = nil, key: Replay.Key? = nil) {
        self.message = message
        self.notification = notification
        self.key = key
    }
}
