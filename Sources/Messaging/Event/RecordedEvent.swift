/// An event with its position in the event log.
public struct RecordedEvent: Equatable, Sendable {
    /// The position in the event log of its application.
    public let position: LogPosition
    /// The moment of recording.
    public let at: Timestamp
    /// The event.
    public let event: Event
    /// The actor of the request; `nil` for a change by the server itself.
    private let recorder: EventActor?
    /// The trace of the request; `nil` for none.
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

    /// The author that the event names, otherwise the actor of the request.
    public var actor: EventActor? { event.author ?? recorder }
}

/// A recorded event with the object that its JSON shows.
public struct ResolvedEvent: Sendable {
    /// The public id of the event.
    public let id: EventID
    /// The event.
    public let recorded: RecordedEvent
    /// The object that the event changed.
    public let object: Object

    /// All members.
    public init(id: EventID, recorded: RecordedEvent, object: Object) {
        self.id = id
        self.recorded = recorded
        self.object = object
    }

    /// The object of an event in its state right after the event.
    public enum Object: Equatable, Sendable {
        /// The event has no object, or the object no longer exists.
        case none
        case message(MessageSnapshot)
        case conversation(ConversationSnapshot)
        case identity(Identity)
        /// The sender of an announcement.
        case sender(BasicIdentity)
    }
}

/// The author of a change: a user, a service that has only a name, or the holder of a token.
public enum EventActor: Equatable, Sendable {
    case user(UserID)
    case named(String)
    case token(Token.ID)

    /// The sender of a message or announcement.
    public init(_ sender: Sender) {
        switch sender {
        case .user(let user): self = .user(user)
        case .named(let name): self = .named(name)
        }
    }
}

/// A position in the event log of an application: 1, 2, 3 … without gaps.
public struct LogPosition: Hashable, Comparable, Sendable {
    /// Starts at 1; 0 is before the first event.
    public let number: Int64

    /// The position with that number.
    public init(_ number: Int64) {
        self.number = number
    }

    /// The position before the first event.
    public static let start = LogPosition(0)

    /// The earlier position comes first.
    public static func < (left: Self, right: Self) -> Bool {
        left.number < right.number
    }
}

/// A distributed trace that a request belongs to (W3C Trace Context). Its webhook requests continue it (X5).
public struct Trace: Hashable, Sendable {
    /// 16 bytes in lower-case hexadecimal digits, not all zero.
    public let id: String
    /// The flags of the trace: bit 0 means sampled, bit 1 means that the id is random.
    public let flags: UInt8

    /// Creates a trace from a `traceparent` header. Unknown flags are cleared (Trace Context level 2, §3.2.2.5.3).
    public init(id: String, flags: UInt8) {
        self.id = id
        self.flags = flags & 3
    }
}
