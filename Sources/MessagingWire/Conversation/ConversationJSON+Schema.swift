public import JSON

extension ConversationJSON {
    /// A conversation as the system sees it.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named("Conversation", .object(members(version)))
    }

    /// A conversation as a user sees it.
    public static func userSchema(_ version: APIVersion) -> JSONSchema {
        var members = members(version)
        members.append(.required("last_message", MessageJSON.schema(version).orNull))
        members.append(.required("unread_message_count", .integer(0 ... .max)))
        if version.namesIdentities {
            members.append(.required("total_message_count", .integer(0 ... .max)))
        }
        return .named("UserConversation", .object(members))
    }

    private static func members(_ version: APIVersion) -> [JSONSchema.Member] {
        [
            .required("id", .identifier(.conversations)),
            .required("url", .url),
            .required("messages_url", .url),
            .required("created_at", .time),
            .required("participants", .array(of: BasicIdentityJSON.schema(version))),
            .required("distinct", .boolean),
            .required("metadata", MetadataJSON.schema),
        ]
    }
}
