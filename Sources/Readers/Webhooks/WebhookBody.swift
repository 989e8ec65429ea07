internal import JSON
public import Messaging
public import MessagingStore
internal import MessagingWire
public import Uploads

/// A rendered webhook event, shared by all webhooks of some payload versions; each webhook adds its
/// own `config` and signature (webhooks §4.1).
public struct WebhookBody: Sendable {
    /// The payload versions with this body.
    public let versions: Set<WebhookVersion>
    /// The event's position in the log.
    public let position: LogPosition
    /// The event's topic.
    public let topic: WebhookTopic
    /// `event.id`: the same in every attempt and for every webhook.
    public let id: EventID
    /// The conversation the event belongs to; deliveries of one conversation are sent in order.
    public let conversation: Conversation.ID
    /// The trace of the request that caused the event, if any.
    public let trace: Trace?
    /// The body without `config`: JSON without white space (webhooks §3.2).
    public let body: [UInt8]

    /// Whether a webhook receives it: active at that position and subscribed to the topic.
    public func isFor(_ subscription: WebhookSubscription) -> Bool {
        subscription.covers(position) && isWanted(by: subscription.webhook)
    }

    /// Whether a webhook is subscribed to it, whatever its status.
    public func isWanted(by webhook: Webhook) -> Bool {
        versions.contains(webhook.payloadVersion) && webhook.topics.contains(topic)
    }

    /// The body for one webhook: its `config`, if any, becomes the last member.
    public func body(for webhook: Webhook) -> [UInt8] {
        guard let config = webhook.config else { return body }
        var writer = JSONWriter(capacity: 256)
        WebhookConfigJSON.write(config, into: &writer)
        // The body is an object with members.
        return body.dropLast() + Array(#","config":"#.utf8) + writer.finish()
            + [UInt8(ascii: "}")]
    }
}

/// Renders the bodies of webhook events, once for all webhooks of a version.
public struct WebhookRenderer: Sendable {
    private let downloads: Downloads
    private let publicBase: String

    /// - Parameters:
    ///   - downloads: Signs the URLs of contents as of the event, so that an event always has the
    ///     same body (rulings 27); `refresh_url` leads to a fresh URL.
    ///   - publicBase: Absolute URL without a trailing slash.
    public init(downloads: Downloads, publicBase: String) {
        self.downloads = downloads
        self.publicBase = publicBase
    }

    /// Renders one event.
    public func message(_ event: WebhookEvent, in application: Application.ID) -> WebhookBody {
        let presentation = presentation(of: event, application)
        var writer = JSONWriter(capacity: 2048)
        WebhookEventJSON(event).write(presentation, into: &writer)
        return WebhookBody(
            versions: event.versions, position: event.position, topic: event.occurrence.topic,
            id: event.occurrence.id, conversation: event.conversation, trace: event.trace,
            body: writer.finish())
    }

    private func presentation(
        of event: WebhookEvent, _ application: Application.ID
    ) -> Presentation {
        let moment = event.occurrence.at.milliseconds
        return Presentation(
            version: event.versions.contains(.v1_0) ? .v1_0 : .v3_0,
            links: LinkBuilder(publicBase: publicBase, application: application)
        ) { [downloads] content in downloads.signedURL(content: content, at: moment) }
    }
}
