public import JSON
import Messaging

extension ConversationDraftJSON {
    /// What ``read(_:_:by:)`` reads from the system.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        schema("ConversationDraft", 1...Participants.limit, version)
    }

    /// What it reads from a user, who takes part without being named.
    public static func userSchema(_ version: APIVersion) -> JSONSchema {
        schema("UserConversationDraft", 0...Participants.limit, version)
    }

    private static func schema(
        _ name: String, _ users: ClosedRange<Int>, _ version: APIVersion
    ) -> JSONSchema {
        .named(
            name,
            .object([
                .required(
                    "participants", .array(of: UserIDJSON.namingSchema(version), users)),
                .optional(
                    "distinct",
                    JSONSchema.boolean.saying(
                        "Whether it is the one conversation of exactly these participants.")),
                .optional("metadata", MetadataJSON.schema),
                .optional("id", .name(in: .conversations)),
            ]))
    }
}
