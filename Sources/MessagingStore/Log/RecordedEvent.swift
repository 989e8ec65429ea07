public import Messaging

/// An event with its place in the log.
public struct RecordedEvent: Equatable, Sendable {
    /// 1, 2, 3 … without gaps in its application.
    public let position: LogPosition
    /// When it was recorded.
    public let at: Timestamp
    /// What happened.
    public let event: Event
}
