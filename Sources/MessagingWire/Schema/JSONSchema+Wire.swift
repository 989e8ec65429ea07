public import JSON

// The small shapes that all objects share. They stand beside nothing that reads or writes them,
// because everything does.

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
    public static let url = JSONSchema.text(JSONTextSchema(format: "uri"))

    /// `2026-03-01T09:15:30.042Z` (platform-api §1.8).
    public static let time = JSONSchema.text(
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
