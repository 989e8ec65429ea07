/// A webhook as anybody may see it who reads what happens in its application: without its secret.
///
/// A type of its own, so that no line which tells of webhooks has a secret to leave out.
public struct ShownWebhook: Equatable, Sendable {
    /// Its name.
    public let id: Webhook.ID
    /// The shape of what it is sent.
    public let payloadVersion: WebhookVersion
    /// Where it is sent: an absolute URL.
    public let target: String
    /// What it asked for, in that order, none twice.
    public let topics: [Topic]
    /// What was registered with it, as it came; `nil` for nothing.
    public let config: [Webhook.Setting]?
    /// How it stands.
    public let status: Webhook.Status
    /// When it was registered.
    public let createdAt: Timestamp

    /// A webhook as an event tells of it.
    public init(
        id: Webhook.ID, payloadVersion: WebhookVersion, target: String, topics: [Topic],
        config: [Webhook.Setting]?, status: Webhook.Status, createdAt: Timestamp
    ) {
        self.id = id
        self.payloadVersion = payloadVersion
        self.target = target
        self.topics = topics
        self.config = config
        self.status = status
        self.createdAt = createdAt
    }

    /// What may be seen of a webhook.
    public init(_ webhook: Webhook) {
        self.init(
            id: webhook.id, payloadVersion: webhook.payloadVersion, target: webhook.target,
            topics: webhook.topics, config: webhook.config, status: webhook.status,
            createdAt: webhook.createdAt)
    }
}
