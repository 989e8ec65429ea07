import Messaging

extension Event {
    /// The names in the log of what readers call so, in the order of their letters.
    static func kinds(of types: Set<EventType>) -> [String] {
        Set(types.map(\.kind)).sorted()
    }
}

extension EventType {
    /// The log has one name for both receipts, and its own for what webhooks name.
    var kind: String {
        switch self {
        case .messageDelivered, .messageRead: "receipts.recorded"
        case .messageUpdated: "parts.changed"
        case .participantsChanged: "participants.changed"
        case .metadataChanged: "metadata.changed"
        default: rawValue
        }
    }
}
