public import JSON
public import Messaging

/// An event as readers of the log see it, the same in every version (X3).
///
/// `data` is the object as 3.0 shows it, or what is left of its name; `changes` is what this event has
/// changed about it.
public struct EventJSON: Sendable {
    /// What the event does not say itself.
    public enum Object: Sendable {
        case none
        case message(MessageJSON)
        case conversation(ConversationJSON)
        case identity(Identity)
        case sender(BasicIdentity)
    }

    let id: Occurrence.ID
    let position: LogPosition
    let at: Timestamp
    let actor: Actor?
    let event: Event
    let object: Object

    /// An event to show.
    public init(
        id: Occurrence.ID, position: LogPosition, at moment: Timestamp, actor: Actor?,
        event: Event, object: Object
    ) {
        self.id = id
        self.position = position
        at = moment
        self.actor = actor
        self.event = event
        self.object = object
    }

    /// Writes the object; `presentation` is that of the system in 3.0.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id.uuid)
            writer.member("position", position.number)
            writer.member("type", event.type.rawValue)
            writer.member("at", TimestampJSON.text(at))
            write(actor, into: &writer)
            writer.member("subject", event.subject(in: presentation.links))
            writer.key("data")
            writeData(presentation, into: &writer)
            writer.key("changes")
            writer.object { writer in writeChanges(into: &writer) }
        }
    }

    /// Exactly one member; `null` for what the server does by itself.
    private func write(_ actor: Actor?, into writer: inout JSONWriter) {
        writer.key("actor")
        guard let actor else { return writer.null() }
        writer.object { writer in
            switch actor {
            case .user(let user): writer.member("user_id", user.text)
            case .named(let name): writer.member("name", name)
            case .token(let id): writer.member("token", id.uuid)
            }
        }
    }
}
