public import Messaging

/// The names of topics in webhooks, and those of version 1.0 in exports (webhooks §4.2).
public enum WebhookTopicJSON {
    /// Returns the name of a topic, in a version that has the topic.
    public static func text(_ topic: WebhookTopic, _ version: WebhookVersion) -> String {
        let isFirst = version == .v1_0
        return switch topic {
        case .messageSent: isFirst ? "message.sent" : "Message.created"
        case .messageDelivered: "message.delivered"
        case .messageRead: "message.read"
        case .receiptCreated: "Receipt.created"
        case .messageUpdated: "Message.updated"
        case .partCreated: "MessagePart.created"
        case .partUpdated: "MessagePart.updated"
        case .partDeleted: "MessagePart.deleted"
        case .messageDeleted: isFirst ? "message.deleted" : "Message.deleted"
        case .conversationCreated: isFirst ? "conversation.created" : "Conversation.created"
        case .participantsChanged: "conversation.updated.participants"
        case .participationCreated: "Participation.created"
        case .participationDeleted: "Participation.deleted"
        case .metadataChanged: isFirst ? "conversation.updated.metadata" : "Conversation.updated"
        case .conversationMerged: isFirst ? "conversation.merged" : "Conversation.merged"
        case .conversationDeleted: isFirst ? "conversation.deleted" : "Conversation.deleted"
        case .channelCreated: "Channel.created"
        case .channelUpdated: "Channel.updated"
        case .channelDeleted: "Channel.deleted"
        case .membershipCreated: "Membership.created"
        case .membershipDeleted: "Membership.deleted"
        }
    }

    /// Returns the topic with a name; `nil` if the version has no such name.
    static func read(_ text: String, _ version: WebhookVersion) -> WebhookTopic? {
        topics[version]?[text]
    }

    /// Returns the topic names of a version, in the order of declaration.
    static func names(_ version: WebhookVersion) -> [String] {
        WebhookTopic.all(in: version).map { topic in text(topic, version) }
    }

    private static let topics = Dictionary(
        uniqueKeysWithValues: WebhookVersion.allCases.map { version in
            let known = WebhookTopic.all(in: version).map { topic in (text(topic, version), topic) }
            return (version, Dictionary(uniqueKeysWithValues: known))
        })
}
