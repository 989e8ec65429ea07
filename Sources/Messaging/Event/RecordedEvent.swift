/// An event with its place in the log.
public struct RecordedEvent: Equatable, Sendable {
    /// 1, 2, 3 … without gaps in its application.
    public let position: LogPosition
    /// When it was recorded.
    public let at: Timestamp
    /// What happened.
    public let event: Event
    /// On whose account it was recorded; `nil` for what the server does by itself.
    public let recorder: EventActor?
    /// In which trace it was asked for; `nil` for none.
    public let trace: Trace?

    /// All members.
    public init(
        position: LogPosition, at: Timestamp, event: Event, recorder: EventActor?, trace: Trace?
    ) {
        self.position = position
        self.at = at
        self.event = event
        self.recorder = recorder
        self.trace = trace
    }

    /// Who did it: whoever the event itself names, else on whose account it was recorded.
    public var actor: EventActor? { event.author ?? recorder }
}
