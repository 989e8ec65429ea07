/// A message was accepted that will be sent later.
public struct MessageScheduled: Equatable, Sendable {
    /// The message.
    public let message: ScheduledMessage
    /// The key under which the scheduling is replayed.
    public let key: Replay.Key?

    /// What happened.
    public init(message: ScheduledMessage, key: Replay.Key? = nil) {
        self.message = message
        self.key = key
    }
}
