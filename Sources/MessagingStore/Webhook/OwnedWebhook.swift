public import Messaging

/// A webhook, and whose it is.
public struct OwnedWebhook: Equatable, Sendable {
    /// Whose it is.
    public let application: Application.ID
    /// The webhook.
    public let webhook: Webhook
}
