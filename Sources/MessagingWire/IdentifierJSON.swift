public import JSON
public import Messaging

/// The ids of objects in JSON, in their long form: `layer:///{collection}/{uuid}`.
public enum IdentifierJSON {
    /// The collections in the long form of ids.
    public enum Collection: String, Sendable {
        case conversations, messages, content, announcements, exports, providers, keys, sessions,
            erasures
    }

    /// Returns the long form of an id.
    public static func text<Subject>(
        _ id: Identifier<Subject>, in collection: Collection
    ) -> String {
        String(pieces: "layer:///", collection.rawValue, "/", id.uuid)
    }

    /// Returns the long form of a webhook's id, which names its application as well.
    public static func text(_ id: Webhook.ID, of application: Application.ID) -> String {
        String(pieces: webhooks(of: application), id.uuid)
    }

    /// Reads a webhook's id: its long form, or a bare UUID.
    public static func read(_ text: String, of application: Application.ID) -> Webhook.ID? {
        let prefix = webhooks(of: application)
        guard text.utf8.starts(with: prefix.utf8) else { return Identifier(uuid: text) }
        return Identifier(uuid: text.dropFirst(prefix.count))
    }

    /// Returns the long form of a delivery's id, which names its webhook as well.
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

    /// Reads the long form of an id of the collection, or a bare UUID.
    public static func read<Subject>(
        _ text: String, in collection: Collection
    ) -> Identifier<Subject>? {
        let prefix = "layer:///\(collection.rawValue)/"
        guard text.utf8.starts(with: prefix.utf8) else { return Identifier(uuid: text) }
        return Identifier(uuid: text.dropFirst(prefix.count))
    }

    /// Reads the long form of an id of the collection, or a bare UUID; `nil` for another value or none.
    static func read<Subject>(
        _ value: JSONValue?, in collection: Collection
    ) -> Identifier<Subject>? {
        value?.string.flatMap { text in read(text, in: collection) }
    }

    /// Reads the id that the client proposes for a new object: the body member `id` (platform-api §1.9).
    static func proposed<Subject>(
        in body: JSONValue, _ collection: Collection, _ rule: ValidationRule
    ) throws(Rejection) -> Identifier<Subject>? {
        guard let value = body.present("id") else { return nil }
        guard let text = value.string, let id: Identifier<Subject> = read(text, in: collection)
        else { throw .invalid("id", rule) }
        return id
    }
}

// Small schemas that many objects share.

extension JSONSchema {
    private static let hexadecimal = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

    /// A UUID as answers and paths write it.
    public static let uuid = pattern(hexadecimal)

    /// `layer:///{collection}/{uuid}`, as answers write it.
    public static func identifier(_ collection: IdentifierJSON.Collection) -> JSONSchema {
        pattern("layer:///\(collection.rawValue)/\(hexadecimal)")
    }

    /// An id as callers may name it: the long form or the bare UUID.
    public static func name(in collection: IdentifierJSON.Collection) -> JSONSchema {
        pattern("(layer:///\(collection.rawValue)/)?\(hexadecimal)")
    }

    /// The id of a webhook, as answers write it.
    public static let webhook = pattern("layer:///apps/\(hexadecimal)/webhooks/\(hexadecimal)")

    /// The id of a webhook as callers may name it.
    public static let webhookName = pattern(
        "(layer:///apps/\(hexadecimal)/webhooks/)?\(hexadecimal)")

    /// The id of a delivery, as answers write it.
    static let delivery = pattern(
        "layer:///apps/\(hexadecimal)/webhooks/\(hexadecimal)/deliveries/\(hexadecimal)")

    /// The id of a delivery as callers may name it.
    public static let deliveryName = pattern(
        "(layer:///apps/\(hexadecimal)/webhooks/\(hexadecimal)/deliveries/)?\(hexadecimal)")

    /// An absolute URL.
    static let url = JSONSchema.text(JSONTextSchema(format: "uri"))

    /// `2026-03-01T09:15:30.042Z` (platform-api §1.8).
    static let time = JSONSchema.text(
        JSONTextSchema(
            pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$",
            format: "date-time"))

    /// A string that every database holds: without U+0000.
    static func storable(length: ClosedRange<Int>) -> JSONSchema {
        .text(JSONTextSchema(length: length, pattern: "^[^\\x00]*$"))
    }

    /// A string that a regular expression describes from its first character to its last.
    public static func pattern(_ expression: String) -> JSONSchema {
        .text(JSONTextSchema(pattern: "^\(expression)$"))
    }
}
