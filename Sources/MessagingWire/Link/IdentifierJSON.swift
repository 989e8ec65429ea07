import JSON
public import Messaging

/// The ids of things on the wire: `layer:///{collection}/{uuid}`.
public enum IdentifierJSON {
    /// The collections of the things that have one.
    public enum Collection: String, Sendable {
        case conversations, messages, content, announcements, exports
    }

    /// The long form of an id.
    public static func text<Subject>(
        _ id: Identifier<Subject>, in collection: Collection
    ) -> String {
        String(pieces: "layer:///", collection.rawValue, "/", id.uuid)
    }

    /// The long form of a webhook's id, which names its application as well.
    public static func text(_ id: Webhook.ID, of application: Application.ID) -> String {
        String(pieces: webhooks(of: application), id.uuid)
    }

    /// Reads a webhook's id: its long form, or a bare UUID.
    public static func read(_ text: String, of application: Application.ID) -> Webhook.ID? {
        let prefix = webhooks(of: application)
        guard text.utf8.starts(with: prefix.utf8) else { return Identifier(uuid: text) }
        return Identifier(uuid: text.dropFirst(prefix.count))
    }

    /// The long form of a delivery's id, which names its webhook as well.
    public static func text(
        _ id: WebhookDelivery.ID, of webhook: Webhook.ID, in application: Application.ID
    ) -> String {
        String(pieces: deliveries(of: webhook, in: application), id.uuid)
    }

    /// Reads a delivery's id: its long form, or a bare UUID.
    public static func read(
        _ text: String, of webhook: Webhook.ID, in application: Application.ID
    ) -> WebhookDelivery.ID? {
        let prefix = deliveries(of: webhook, in: application)
        guard text.utf8.starts(with: prefix.utf8) else { return Identifier(uuid: text) }
        return Identifier(uuid: text.dropFirst(prefix.count))
    }

    private static func deliveries(of webhook: Webhook.ID, in application: Application.ID) -> String
    {
        "\(text(webhook, of: application))/deliveries/"
    }

    private static func webhooks(of application: Application.ID) -> String {
        "layer:///apps/\(application.uuid)/webhooks/"
    }

    /// Reads the long form of that collection, or a bare UUID; either in any case.
    public static func read<Subject>(
        _ text: String, in collection: Collection
    ) -> Identifier<Subject>? {
        let prefix = "layer:///\(collection.rawValue)/"
        guard text.utf8.starts(with: prefix.utf8) else { return Identifier(uuid: text) }
        return Identifier(uuid: text.dropFirst(prefix.count))
    }

    /// The id a caller proposes for what he creates: the body member `id` (platform-api §1.9).
    static func proposed<Subject>(
        in body: JSONValue, _ collection: Collection, _ rule: Rule
    ) throws(Rejection) -> Identifier<Subject>? {
        guard let value = body.present("id") else { return nil }
        guard let text = value.string, let id: Identifier<Subject> = read(text, in: collection)
        else { throw .invalid("id", rule) }
        return id
    }
}
