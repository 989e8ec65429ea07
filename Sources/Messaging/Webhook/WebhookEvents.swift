/// A webhook was registered.
public struct WebhookCreated: EventPayload {
    /// The webhook without its secret.
    public let webhook: WebhookSummary

    /// All members.
    public init(webhook: WebhookSummary) {
        self.webhook = webhook
    }

    /// The type of the event.
    public var type: EventType { .webhookCreated }
}

/// The status of a webhook changed, or the reason for it.
public struct WebhookUpdated: EventPayload {
    /// The webhook after the change.
    public let webhook: WebhookSummary

    /// All members.
    public init(webhook: WebhookSummary) {
        self.webhook = webhook
    }

    /// The type of the event.
    public var type: EventType { .webhookUpdated }
}

/// The secret of a webhook was replaced.
public struct WebhookSecretRotated: EventPayload {
    /// The webhook.
    public let webhook: WebhookSummary
    /// When the former secret stops signing requests as well.
    public let formerUntil: Timestamp

    /// All members.
    public init(webhook: WebhookSummary, formerUntil: Timestamp) {
        self.webhook = webhook
        self.formerUntil = formerUntil
    }

    /// The type of the event.
    public var type: EventType { .webhookSecretRotated }
}

/// A webhook was deleted with its pending deliveries.
public struct WebhookDeleted: EventPayload {
    /// The webhook before its deletion.
    public let webhook: WebhookSummary

    /// All members.
    public init(webhook: WebhookSummary) {
        self.webhook = webhook
    }

    /// The type of the event.
    public var type: EventType { .webhookDeleted }
}
