internal import JSON
public import Messaging
public import MessagingStore
internal import MessagingWire
public import Uploads

/// What all webhooks of some versions are sent of one occurrence; each adds its own `config` and
/// signature (webhooks §4.1).
public struct WebhookBody: Sendable {
    /// The versions that are sent it as it is.
    public let versions: Set<WebhookVersion>
    /// Of the event in the log.
    public let position: LogPosition
    /// What happened.
    public let topic: WebhookTopic
    /// `event.id`: the same whenever and to whomever it is sent.
    public let id: EventID
    /// The conversation it belongs to; what is sent of one is sent in order.
    public let conversation: Conversation.ID
    /// In which trace it was asked for; `nil` for none.
    public let trace: Trace?
    /// The body of a webhook without `config`: JSON, without white space (webhooks §3.2).
    public let body: [UInt8]

    /// Whether a webhook is sent it: one that was active then, and asked for it.
    public func isFor(_ told: WebhookSubscription) -> Bool {
        told.covers(position) && isWanted(by: told.webhook)
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

/// Makes the bodies of webhooks: once for all that are sent the same.
public struct WebhookRenderer: Sendable {
    private let downloads: Downloads
    private let publicBase: String

    /// - Parameters:
    ///   - downloads: Signs the URLs of contents as of the event, so that the same event has the same body for
    ///     ever (rulings 27); `refresh_url` leads to a fresh URL.
    ///   - publicBase: Absolute URL without a trailing slash.
    public init(downloads: Downloads, publicBase: String) {
        self.downloads = downloads
        self.publicBase = publicBase
    }

    /// What is sent of an occurrence.
    public func message(_ told: WebhookEvent, in application: Application.ID) -> WebhookBody {
        let presentation = presentation(of: told, application)
        var writer = JSONWriter(capacity: 2048)
        WebhookEventJSON(told).write(presentation, into: &writer)
        return WebhookBody(
            versions: told.versions, position: told.position, topic: told.occurrence.topic,
            id: told.occurrence.id, conversation: told.conversation, trace: told.trace,
            body: writer.finish())
    }

    private func presentation(
        of told: WebhookEvent, _ application: Application.ID
    ) -> Presentation {
        Presentation(
            version: told.versions.contains(.v1_0) ? .v1_0 : .v3_0,
            links: LinkBuilder(publicBase: publicBase, application: application),
            sign: downloads.signing(at: told.occurrence.at))
    }
}
