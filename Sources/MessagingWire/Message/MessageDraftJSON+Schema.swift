public import JSON
import Messaging

extension MessageDraftJSON {
    /// What ``init(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "MessageDraft",
            .object(
                [sender(version)] + content(version) + [
                    .optional("schedule", ScheduleJSON.schema),
                    .optional("id", .name(in: .messages)),
                ]))
    }

    /// What ``read(_:by:)`` reads.
    public static func userSchema(_ version: APIVersion) -> JSONSchema {
        .named(
            "UserMessageDraft",
            .object(content(version) + [.optional("id", .name(in: .messages))]))
    }

    private static func content(_ version: APIVersion) -> [JSONSchema.Member] {
        [
            .required("parts", .array(of: MessagePartJSON.draftSchema, 1...Message.partLimit)),
            .optional("notification", NotificationJSON.schema(version)),
        ]
    }

    private static func sender(_ version: APIVersion) -> JSONSchema.Member {
        guard !version.namesIdentities else {
            return .required("sender_id", UserIDJSON.namingSchema(version))
        }
        return .required(
            "sender",
            .object([
                .optional("user_id", UserIDJSON.bareSchema),
                .optional("name", .storable(length: 1...128)),
            ]).saying("Either a participant by his `user_id`, or a service by its `name`."))
    }
}
