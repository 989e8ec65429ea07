internal import JSON
public import Messaging
public import MessagingStore
internal import MessagingWire

/// What all webhooks of some versions are sent of one occurrence; each adds its own `config` and
/// signature (webhooks §4.1).
public struct WebhookMessage: Sendable {
    /// The versions that are sent it as it is.
    public let versions: Set<WebhookVersion>
    /// Of the event in the log.
    public let position: LogPosition
    /// What happened.
    public let topic: Topic
    /// `event.id`: the same whenever and to whomever it is sent.
    public let id: Occurrence.ID
    /// The conversation it belongs to; what is sent of one is sent in order.
    public let conversation: Conversation.ID
    /// In which trace it was asked for; `nil` for none.
    public let trace: Trace?
    /// The body of a webhook without `config`: JSON, without white space (webhooks §3.2).
    public let body: [UInt8]

    /// Whether a webhook is sent it: one that was active then, and asked for it.
    public func isFor(_ told: ToldWebhook) -> Bool {
        told.isTold(of: position) && isWanted(by: told.webhook)
    }

    /// Whether a webhook has asked for it, however it stands.
    public func isWanted(by webhook: Webhook) -> Bool {
        versions.contains(webhook.payloadVersion) && webhook.topics.contains(topic)
    }

    /// The body for one webhook: its `config` is the last member, if it was registered with one.
    public func body(for webhook: Webhook) -> [UInt8] {
        guard let config = webhook.config else { return body }
        var writer = JSONWriter(capacity: 256)
        WebhookConfigJSON.write(config, into: &writer)
        // The body is an object with members.
        return body.dropLast() + Array(#","config":"#.utf8) + writer.finish()
            + [UInt8(ascii: "}")]
    }
}
