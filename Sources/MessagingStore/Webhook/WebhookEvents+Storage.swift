import Messaging

/// An event that the log holds as the webhook after it.
///
/// The mutation that records the event writes the row, because the log must not hold its secret.
protocol StoredWebhookEvent: StoredEvent {
    var webhook: WebhookSummary { get }

    init(webhook: WebhookSummary)
}

extension StoredWebhookEvent {
    func write(to writer: inout ByteWriter) { webhook.write(to: &writer) }

    init(from reader: inout ByteReader) throws {
        self.init(webhook: try WebhookSummary(from: &reader))
    }

    func apply(to rows: Projection) throws {}

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension WebhookCreated: StoredWebhookEvent {}

extension WebhookUpdated: StoredWebhookEvent {}

extension WebhookDeleted: StoredWebhookEvent {}

extension WebhookSecretRotated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        webhook.write(to: &writer)
        writer.write(formerUntil)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            webhook: try WebhookSummary(from: &reader), formerUntil: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        // The mutation that records the event writes the row, because the log must not hold its secret.
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
