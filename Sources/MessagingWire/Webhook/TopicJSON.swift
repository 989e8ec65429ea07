public import Messaging

/// The names of events in webhooks of version 1.0, and in exports (webhooks §4.2).
public enum TopicJSON {
    /// The name of a topic.
    public static func text(_ topic: Topic) -> String {
        switch topic {
        case .messageSent: "message.sent"
        case .messageDelivered: "message.delivered"
        case .messageRead: "message.read"
        case .messageDeleted: "message.deleted"
        case .conversationCreated: "conversation.created"
        case .participantsChanged: "conversation.updated.participants"
        case .metadataChanged: "conversation.updated.metadata"
        case .conversationDeleted: "conversation.deleted"
        }
    }

    /// The topic of a name; `nil` for no name of version 1.0.
    static func read(_ text: String) -> Topic? { topics[text] }

    private static let topics = Dictionary(
        uniqueKeysWithValues: Topic.allCases.map { topic in (text(topic), topic) })
}
