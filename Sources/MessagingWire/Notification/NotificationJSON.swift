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
        guard value.kind == .object, isCustomisation(value), areRecipients(value["recipients"])
        else { throw .invalid("notification") }
        return Array(value.raw)
    }

    /// Whether every member we know has its type.
    private static func isCustomisation(_ object: JSONValue) -> Bool {
        object.members.allSatisfy { name, value in
            if value.isNull { return true }
            switch name {
            case "title", "text", "sound", "category", "title-loc-key", "loc-key", "action-loc-key":
                return value.kind == .string
            case "title-loc-args", "loc-args":
                return value.kind == .array && value.elements.allSatisfy { $0.kind == .string }
            case "data":
                return value.kind == .object
                    && value.members.allSatisfy { $0.value.kind == .string }
            case "apns":
                return value.kind == .object
                    && value.present("launch-image").map { $0.kind == .string } ?? true
            default: return true
            }
        }
    }

    /// An object keyed by user (1.0), or an array of objects that name one (1.1 and later).
    private static func areRecipients(_ value: JSONValue?) -> Bool {
        guard let value, !value.isNull else { return true }
        switch value.kind {
        case .object:
            return value.members.allSatisfy { name, entry in
                UserIDJSON.read(identity: String(name)) != nil && entry.kind == .object
                    && isCustomisation(entry)
            }
        case .array:
            return value.elements.allSatisfy { element in
                let name = element.present("user_id") ?? element.present("recipient")
                return name?.string.flatMap(UserIDJSON.read(identity:)) != nil
                    && isCustomisation(element)
            }
        default: return false
        }
    }
}
