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
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - downloads: Signs the URLs of contents, afresh for each body.
    ///   - publicBase: Absolute URL without a trailing slash.
    public init(
        downloads: Downloads, publicBase: String, now: @escaping @Sendable () -> Timestamp
    ) {
        self.downloads = downloads
        self.publicBase = publicBase
        self.now = now
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
            sign: downloads.signing(at: now()))
    }
}
