public import JSON
public import Messaging

/// The content of a push notification: the member `notification` of a message, an announcement, or a notification
/// without either (platform-api §5.6).
///
/// It is validated here and stored as received.
enum NotificationJSON {
    /// Returns the object as JSON; `nil` if there is none.
    ///
    /// Recipients are accepted in the forms of all versions; unknown members are ignored.
    static func read(_ body: JSONValue) throws(Rejection) -> [UInt8]? {
        guard let value = body.present("notification") else { return nil }
        guard value.kind == .object else { throw .invalid("notification", .notificationObject) }
        try checkMembers(of: value, at: "notification")
        try checkRecipients(value["recipients"])
        return Array(value.raw)
    }

    /// Checks the type of every member that a push shows.
    private static func checkMembers(of object: JSONValue, at path: String) throws(Rejection) {
        for (name, value) in object.members {
            guard !value.isNull, let rule = rule(for: name), !isValid(value, rule) else { continue }
            throw .invalid("notification", rule, .init(path: "\(path).\(name)"))
        }
    }

    private static func rule(for name: String) -> ValidationRule? {
        switch name {
        case "title", "text", "sound", "category", "title-loc-key", "loc-key", "action-loc-key":
            .notificationText
        case "title-loc-args", "loc-args": .notificationTexts
        case "data": .notificationData
        case "apns": .notificationAPNs
        default: nil
        }
    }

    private static func isValid(_ value: JSONValue, _ rule: ValidationRule) -> Bool {
        switch rule {
        case .notificationText: value.kind == .string
        case .notificationTexts:
            value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
        case .notificationData:
            value.kind == .object && value.members.allSatisfy { $0.value.kind == .string }
        default:
            value.kind == .object
                && value.present("launch-image").map { $0.kind == .string } ?? true
        }
    }

    /// Checks an object keyed by user (1.0), or an array of objects that each name a user (1.1 and later).
    private static func checkRecipients(_ value: JSONValue?) throws(Rejection) {
        guard let value, !value.isNull else { return }
        switch value.kind {
        case .object:
            for (name, entry) in value.members {
                try checkRecipient(UserIDJSON.read(identity: String(name)), entry)
            }
        case .array:
            for entry in value.elements {
                guard let name = entry.present("user_id") ?? entry.present("recipient") else {
                    throw .invalid("notification", .notificationRecipients)
                }
                try checkRecipient(name.string.flatMap(UserIDJSON.read(identity:)), entry)
            }
        default: throw .invalid("notification", .notificationRecipients)
        }
    }

    private static func checkRecipient(_ user: UserID?, _ entry: JSONValue) throws(Rejection) {
        guard entry.kind == .object else {
            throw .invalid("notification", .notificationRecipients)
        }
        guard user != nil else { throw .invalid("notification", .notificationRecipientUser) }
        try checkMembers(of: entry, at: "notification.recipients")
    }
}

extension NotificationJSON {
    /// The schema of what ``read(_:)`` reads, with `recipients` in the form of the version; other forms are accepted
    /// too.
    static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "Notification",
            .object(texts + [.optional("recipients", recipients(version))]))
    }

    private static func recipients(_ version: APIVersion) -> JSONSchema {
        switch version {
        case .v1_0: .object([], others: .object(texts))
        case .v1_1: .array(of: .object([.required("user_id", UserIDJSON.bareSchema)] + texts))
        case .v2_0, .v3_0:
            .anyOf([
                .array(
                    of: .object(
                        [.required("recipient", UserIDJSON.namingSchema(version)), olderName]
                            + texts)),
                .object([], others: .object(texts)),
            ])
        }
    }

    /// The recipient as 1.1 names it, which later versions accept too.
    private static let olderName = JSONSchema.Member.accepted("user_id", UserIDJSON.bareSchema)

    private static let texts: [JSONSchema.Member] =
        ["title", "text", "sound", "category", "title-loc-key", "loc-key", "action-loc-key"].map {
            name in .optional(name, .string)
        } + [
            .optional("title-loc-args", .array(of: .string)),
            .optional("loc-args", .array(of: .string)),
            .optional("data", .object([], others: .string)),
            .optional("apns", .object([])),
        ]
}

/// The body of `POST …/notifications` (platform-api §5.6).
public enum PushNotificationJSON {
    /// Reads a draft: `recipients`, then `notification`, both required.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> PushNotification.Draft {
        let recipients = try RecipientsJSON.read(body, version)
        guard let notification = try NotificationJSON.read(body) else {
            throw .missing("notification")
        }
        return try PushNotification.Draft(recipients: recipients, notification: notification)
    }
}

extension PushNotificationJSON {
    /// The schema of what ``read(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "PushNotification",
            .object([
                RecipientsJSON.schema(version),
                .required("notification", NotificationJSON.schema(version)),
            ]))
    }
}
