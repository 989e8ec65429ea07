internal import Messaging
public import MessagingStore
public import MessagingWire

extension EventJSON {
    /// An event with what the store knows of it.
    public init(_ shown: ShownEvent) {
        let recorded = shown.recorded
        self.init(
            id: shown.id, position: recorded.position, at: recorded.at, actor: recorded.actor,
            event: recorded.event, object: Object(shown.object))
    }
}

extension EventJSON.Object {
    fileprivate init(_ object: ShownEvent.Object) {
        switch object {
        case .none: self = .none
        case .message(let snapshot): self = .message(MessageJSON(snapshot))
        case .conversation(let snapshot): self = .conversation(ConversationJSON(snapshot))
        case .identity(let identity): self = .identity(identity)
        case .sender(let identity): self = .sender(identity)
        }
    }
}
