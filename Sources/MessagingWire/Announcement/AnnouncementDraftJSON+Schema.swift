public import JSON
import Messaging

extension AnnouncementDraftJSON {
    /// What ``read(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "AnnouncementDraft",
            .object([
                RecipientsJSON.schema(version),
                sender(version),
                .required("parts", .array(of: MessagePartJSON.draftSchema, 1...Message.partLimit)),
                .optional("notification", NotificationJSON.schema(version)),
                .optional("id", .name(in: .announcements)),
            ]))
    }

    private static func sender(_ version: APIVersion) -> JSONSchema.Member {
        version.namesIdentities
            ? .required("sender_id", UserIDJSON.namingSchema(version))
            : .required("sender", .object([.required("name", .storable(length: 1...128))]))
    }
}
