public import JSON
import Messaging

extension ConversationDraftJSON {
    /// What ``read(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "ConversationDraft",
            .object([
                .required(
                    "participants",
                    .array(of: UserIDJSON.namingSchema(version), 1...Participants.limit)),
                .optional(
                    "distinct",
                    JSONSchema.boolean.saying(
                        "Whether it is the one conversation of exactly these participants.")),
                .optional("metadata", MetadataJSON.schema),
                .optional("id", .name(in: .conversations)),
            ]))
    }
}
