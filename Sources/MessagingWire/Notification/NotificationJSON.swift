import JSON
import Messaging

/// The `notification` of a message, of an announcement, or without either: what a push shows
/// (platform-api §5.6).
///
/// It is judged here and kept as it came; what becomes of it is the business of whoever pushes.
enum NotificationJSON {
    /// The object as JSON; `nil` when there is none.
    ///
    /// Recipients are taken in the forms of all versions; unknown members are ignored.
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
            guard !value.isNull, let rule = rule(for: name), !keeps(value, rule) else { continue }
            throw .invalid("notification", rule, .init(path: "\(path).\(name)"))
        }
    }

    private static func rule(for name: String) -> Rule? {
        switch name {
        case "title", "text", "sound", "category", "title-loc-key", "loc-key", "action-loc-key":
            .notificationText
        case "title-loc-args", "loc-args": .notificationTexts
        case "data": .notificationData
        case "apns": .notificationAPNs
        default: nil
        }
    }

    private static func keeps(_ value: JSONValue, _ rule: Rule) -> Bool {
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

    /// An object keyed by user (1.0), or an array of objects that name one (1.1 and later).
    private static func checkRecipients(_ value: JSONValue?) throws(Rejection) {
        guard let value, !value.isNull else { return }
        switch value.kind {
        case .object:
            for (name, entry) in value.members {
                try checkRecipient(UserIDJSON.read(identity: String(name)), entry)
            }
        case .array:
            for entry in value.elements {
                let name = entry.present("user_id") ?? entry.present("recipient")
                try checkRecipient(name?.string.flatMap(UserIDJSON.read(identity:)), entry)
            }
        default: throw .invalid("notification", .notificationRecipients)
        }
    }

    private static func checkRecipient(_ user: UserID?, _ entry: JSONValue) throws(Rejection) {
        guard user != nil, entry.kind == .object else {
            throw .invalid("notification", .notificationRecipients)
        }
        try checkMembers(of: entry, at: "notification.recipients")
    }
}
