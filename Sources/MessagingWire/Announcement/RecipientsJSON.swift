import JSON
import Messaging

/// The `recipients` of an announcement or of a notification (platform-api §5.5, §5.6).
enum RecipientsJSON {
    /// Everybody once, in the order of naming.
    ///
    /// `"everyone"`, which the original once knew, is a bad value like any other text.
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
