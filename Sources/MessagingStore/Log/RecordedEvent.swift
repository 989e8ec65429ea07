public import Messaging

/// An event with its place in the log.
public struct RecordedEvent: Equatable, Sendable {
    /// 1, 2, 3 … without gaps in its application.
    public let position: LogPosition
    /// When it was recorded.
    public let at: Timestamp
    /// What happened.
    public let event: Event
    /// On whose account it was recorded; `nil` for what the server does by itself.
    public let recorder: Actor?
    /// In which trace it was asked for; `nil` for none.
    public let trace: Trace?

    /// Who did it: whoever the event itself names, else on whose account it was recorded.
    public var actor: Actor? { event.author ?? recorder }
}
