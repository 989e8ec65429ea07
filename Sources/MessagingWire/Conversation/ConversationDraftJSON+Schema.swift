public import JSON
public import Messaging

extension ConversationDraftJSON {
    /// What ``read(_:_:_:by:)`` reads from the system.
    public static func schema(_ version: APIVersion, _ limits: MessagingLimits) -> JSONSchema {
        schema("ConversationDraft", 1...limits.participants, version)
    }

    /// What it reads from a user, who takes part without being named.
    public static func userSchema(_ version: APIVersion, _ limits: MessagingLimits) -> JSONSchema {
        schema("UserConversationDraft", 0...limits.participants, version)
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
