/// Which events of a log to select; by default all.
public struct EventFilter: Equatable, Sendable {
    /// The types; `nil` for all.
    public var types: Set<EventType>?
    /// All ids of one conversation, that of the conversation and its aliases; `nil` for events of any conversation and of
    /// none.
    public var conversation: Set<Conversation.ID>?
    /// A user that caused the event or that it names; `nil` for all.
    public var user: UserID?

    /// All members.
    public init(
        types: Set<EventType>? = nil, conversation: Set<Conversation.ID>? = nil,
        user: UserID? = nil
    ) {
        self.types = types
        self.conversation = conversation
        self.user = user
    }

    /// Whether events are selected by their type only.
    public var isOfTypes: Bool { conversation == nil && user == nil }

    /// Whether the filter selects an event.
    public func selects(_ recorded: RecordedEvent) -> Bool {
        let payload = recorded.event.payload
        if let types, !types.contains(payload.type) { return false }
        if let conversation, !payload.namedConversations.contains(where: conversation.contains) {
            return false
        }
        guard let user else { return true }
        return recorded.actor == .user(user) || payload.namedUsers.contains(user)
    }
}
