internal import JSON
public import Messaging
internal import MessagingStore
internal import MessagingWire
public import Uploads

/// Renders the bodies of webhook events, once for all webhooks of a version.
public struct WebhookRenderer: Sendable {
    private let downloads: Downloads
    private let publicBase: String

    /// - Parameters:
    ///   - downloads: Signs the URLs of contents as of the event, so that an event always has the
    ///     same body (ruling 27); `refresh_url` returns a new one.
    ///   - publicBase: Absolute URL without a trailing slash.
    public init(downloads: Downloads, publicBase: String) {
        self.downloads = downloads
        self.publicBase = publicBase
    }

    /// Renders one event without `config`: JSON without white space (webhooks §3.2).
    ///
    /// The body is shared by all webhooks of the event's versions; each adds its own `config` and signature
    /// (webhooks §4.1).
    public func body(of event: WebhookEvent, in application: Application.ID) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        WebhookEventJSON.write(event, presentation(of: event, application), into: &writer)
        return writer.finish()
    }

    /// A rendered body for one webhook: its `config`, if any, becomes the last member.
    public static func body(_ body: [UInt8], for webhook: Webhook) -> [UInt8] {
        guard let config = webhook.config else { return body }
        var writer = JSONWriter(capacity: 256)
        WebhookConfigJSON.write(config, into: &writer)
        // The body is an object with members.
        return body.dropLast() + Array(#","config":"#.utf8) + writer.finish()
            + [UInt8(ascii: "}")]
    }

    private func presentation(
        of event: WebhookEvent, _ application: Application.ID
    ) -> Presentation {
        Presentation(
            version: event.versions.contains(.v1_0) ? .v1_0 : .v3_0,
            links: LinkBuilder(publicBase: publicBase, application: application),
            sign: downloads.signer(at: event.at.milliseconds))
    }
}

extension WebhookEvent {
    /// Whether a webhook receives it: active at that position and subscribed to the topic.
    func isFor(_ subscription: WebhookSubscription) -> Bool {
        subscription.covers(position) && isWanted(by: subscription.webhook)
    }

    /// Whether a webhook is subscribed to it, whatever its status.
    func isWanted(by webhook: Webhook) -> Bool {
        versions.contains(webhook.payloadVersion) && webhook.topics.contains(topic)
    }
}
