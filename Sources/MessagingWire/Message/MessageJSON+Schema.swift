public import JSON
import Messaging

extension MessageJSON {
    /// A message in every perspective; what only a user has is `null` for the system.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [
            .required("id", .identifier(.messages)),
            .required("url", .url),
            .required("receipts_url", JSONSchema.url.orNull),
            .required("position", JSONSchema.integer(0 ... .max).orNull),
            .required(
                "conversation",
                .object([.required("id", .identifier(.conversations)), .required("url", .url)])),
            .required("parts", .array(of: MessagePartJSON.schema(version), 1...Message.partLimit)),
            .required("sent_at", .time),
            .required("received_at", JSONSchema.time.orNull),
            .required("is_unread", JSONSchema.boolean.orNull),
            .required("sender", BasicIdentityJSON.senderSchema(version)),
            .required(
                "recipient_status",
                .object([], others: .choice(["sent", "delivered", "read"]))),
        ]
        if version == .v3_0 {
            members.append(.required("channel", .null))
            members.append(.required("reply_to", .null))
        }
        members.append(.required("notification", .null))
        if version == .v3_0 { members.append(.required("updated_at", JSONSchema.time.orNull)) }
        members.append(.optional("transfer", MessageTransferJSON.schema))
        return .named("Message", .object(members))
    }
}
