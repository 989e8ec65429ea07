public import JSON
public import Messaging

/// The body of `POST …/announcements` (platform-api §5.5).
public enum AnnouncementDraftJSON {
    /// Reads a draft in the fixed order of platform-api §1.6: `recipients`, `sender` (or `sender_id`),
    /// `parts`, `notification`, `id`.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    /// - Throws: The first error, with the name of the invalid member.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> Announcement.Draft {
        let recipients = try RecipientsJSON.read(body, version)
        let sender = try sender(body, version)
        let parts = try parts(body)
        let notification = try NotificationJSON.read(body)
        let id: Announcement.ID? = try IdentifierJSON.proposed(
            in: body, .announcements, .announcementID)
        return try Announcement.Draft(
            recipients: recipients, sender: sender.sender, senderProperty: sender.property,
            parts: parts, notification: notification, proposedID: id)
    }

    /// Reads the sender. In 1.x only services send announcements, so `sender_id` is ignored there.
    private static func sender(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> (sender: Sender, property: String) {
        guard version.namesIdentities || body.present("sender") != nil else {
            throw .missing("sender")
        }
        guard !version.namesIdentities, let object = body.present("sender") else {
            return try SenderJSON.read(body, version)
        }
        guard object.kind == .object else { throw .invalid("sender", .senderObject) }
        guard object.present("user_id") == nil else {
            throw .invalid("sender.user_id", .announcementSenderUser)
        }
        guard let name = object.present("name") else { throw .missing("sender.name") }
        guard let text = name.string else { throw .invalid("sender.name", .senderName) }
        return (try .service(text), "sender.name")
    }

    /// Reads the parts, as those of a message but without contents, which belong to conversations.
    private static func parts(_ body: JSONValue) throws(Rejection) -> [MessagePart.Draft] {
        let parts: [MessagePart.Draft]
        do throws(Rejection) {
            parts = try MessagePartJSON.list(body)
        } catch .invalid(let name, .partBodySize, let detail) {
            // The error of a message suggests to upload the part as content, which an announcement cannot have.
            throw .invalid(name, .announcementBodySize, detail)
        }
        for case .content in parts.map(\.body) {
            throw .invalid("parts.content", .announcementContent)
        }
        return parts
    }
}

extension AnnouncementDraftJSON {
    /// The schema of what ``read(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "AnnouncementDraft",
            .object(
                [RecipientsJSON.schema(version)] + sender(version) + [
                    .required(
                        "parts", .array(of: MessagePartJSON.draftSchema, 1...Message.partLimit)),
                    .optional("notification", NotificationJSON.schema(version)),
                    .optional("id", .name(in: .announcements)),
                ]))
    }

    private static func sender(_ version: APIVersion) -> [JSONSchema.Member] {
        version.namesIdentities
            ? SenderJSON.schema(version)
            : [.required("sender", .object([.required("name", .storable(length: 1...128))]))]
    }
}

/// The `recipients` of an announcement or of a notification (platform-api §5.5, §5.6).
enum RecipientsJSON {
    /// Reads the users without duplicates, in the order given.
    ///
    /// `"everyone"`, which the original service once accepted, is invalid like any other text.
    static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> [UserID] {
        guard let value = body.present("recipients") else { throw .missing("recipients") }
        guard let users = UserIDJSON.list(value, version) else {
            throw .invalid("recipients", .recipientUsers)
        }
        guard (1...Announcement.recipientLimit).contains(users.count) else {
            throw .invalid("recipients", .recipientCount, .init(amount: users.count))
        }
        return users
    }
}

extension RecipientsJSON {
    /// The schema of what ``read(_:_:)`` reads.
    static func schema(_ version: APIVersion) -> JSONSchema.Member {
        .required(
            "recipients",
            .array(of: UserIDJSON.namingSchema(version), 1...Announcement.recipientLimit))
    }
}
