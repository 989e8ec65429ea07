public import JSON
import Messaging

extension BadgeJSON {
    /// What ``bytes(_:)`` writes.
    public static let schema = JSONSchema.named(
        "Badge",
        .object([
            .required(external, externalCount),
            .required("unread_conversation_count", .integer(0 ... .max)),
            .required("unread_message_count", .integer(0 ... .max)),
        ]))

    /// What ``read(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "BadgeDraft", .object([.required(external, externalCount)]))

    static let externalCount = JSONSchema.integer(Badge.externalUnreadCounts)
}

extension BadgePatchJSON {
    /// What ``read(_:)`` reads; one operation may also come without its array.
    public static let schema = JSONSchema.named(
        "BadgePatch",
        .array(
            of: .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice([BadgeJSON.external])),
                .required("value", BadgeJSON.externalCount),
            ])))
}
