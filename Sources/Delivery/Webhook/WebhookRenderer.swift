internal import JSON
public import Messaging
internal import MessagingShapes
public import MessagingStore
internal import MessagingWire
public import Uploads

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
    public func message(_ told: ToldEvent, in application: Application.ID) -> WebhookMessage {
        let presentation = presentation(of: told, application)
        var writer = JSONWriter(capacity: 2048)
        WebhookEventJSON(told).write(presentation, into: &writer)
        return WebhookMessage(
            versions: told.versions, position: told.position, topic: told.occurrence.topic,
            id: told.occurrence.id, conversation: told.conversation, trace: told.trace,
            body: writer.finish())
    }

    private func presentation(
        of told: ToldEvent, _ application: Application.ID
    ) -> Presentation {
        Presentation(
            version: told.versions.contains(.v1_0) ? .v1_0 : .v3_0,
            links: LinkBuilder(publicBase: publicBase, application: application),
            sign: downloads.signing(at: told.occurrence.at))
    }
}
