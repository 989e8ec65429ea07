public import JSON
import Messaging

extension AnnouncementJSON {
    /// An announcement as the system sees it.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "Announcement",
            .object([
                .required("id", .identifier(.announcements)),
                .required("url", .url),
                .required("sent_at", .time),
                .required("recipients", .array(of: UserIDJSON.schema(version))),
                .required("sender", BasicIdentityJSON.senderSchema(version)),
                .required("parts", .array(of: part, 1...Message.partLimit)),
            ]))
    }

    /// An announcement as a recipient sees it.
    public static func userSchema(_ version: APIVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [
            .required("id", .identifier(.announcements)),
            .required("url", .url),
            .required("receipts_url", .url),
            .required("position", .null),
            .required("conversation", .null),
            .required("parts", .array(of: part, 1...Message.partLimit)),
            .required("sent_at", .time),
            .required("received_at", .time),
            .required("is_unread", .boolean),
            .required("sender", BasicIdentityJSON.senderSchema(version)),
            .required(
                "recipient_status",
                .object([], others: .choice(["sent", "delivered", "read"]))),
            .required("notification", .null),
        ]
        if version == .v3_0 {
            for name in ["channel", "reply_to", "updated_at"] {
                members.append(.required(name, .null))
            }
        }
        return .named("ReceivedAnnouncement", .object(members))
    }

    private static let part = JSONSchema.named(
        "AnnouncementPart",
        .object([
            .required("id", .string),
            .required("mime_type", .string),
            .required("body", .string),
            .required("encoding", JSONSchema.choice(["base64"]).orNull),
            .required("content", .null),
        ]))
}
