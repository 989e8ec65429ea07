/// An event with everything its JSON shows: nothing needs to be looked up.
public struct ResolvedEvent: Sendable {
    /// Names it, and stays the same however often it is read.
    public let id: EventID
    /// What happened, where, when and by whom.
    public let recorded: RecordedEvent
    /// What it happened to.
    public let object: Object

    /// All members.
    public init(id: EventID, recorded: RecordedEvent, object: Object) {
        self.id = id
        self.recorded = recorded
        self.object = object
    }

    /// What the event alone does not tell.
    public enum Object: Equatable, Sendable {
        /// The event says everything, or the thing is no more.
        case none
        /// As it was right after the event, like the others below.
        case message(MessageSnapshot)
        case conversation(ConversationSnapshot)
        case identity(Identity)
        /// Who makes an announcement.
        case sender(BasicIdentity)
    }
}
