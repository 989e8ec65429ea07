import Messaging

/// An event whose payload is the webhook after the change, without the secret.
///
/// Applying it does nothing: the mutation that records it writes the row, because the log must not contain the secret.
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
        // The mutation that records the event writes the row, because the log must not contain the secret.
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
