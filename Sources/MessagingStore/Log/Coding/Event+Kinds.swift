import Messaging

extension Event {
    /// The names in the log of what readers call so, in the order of their letters.
    static func kinds(of types: Set<EventType>) -> [String] {
        Set(types.flatMap(\.kinds)).sorted()
    }
}

extension EventType {
    /// The log has one name for both receipts, its own for what webhooks name, and another one for
    /// deletions that say what was deleted.
    fileprivate var kinds: [String] {
        switch self {
        case .messageDelivered, .messageRead: ["receipts.recorded"]
        case .messageUpdated: ["parts.changed"]
        case .participantsChanged: ["participants.changed"]
        case .metadataChanged: ["metadata.changed"]
        case .messageDeleted: [rawValue, "message.removed"]
        case .conversationDeleted: [rawValue, "conversation.removed"]
        default: [rawValue]
        }
    }
}
