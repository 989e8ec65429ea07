import JSON
import Messaging

extension RecipientsJSON {
    /// What ``read(_:_:)`` reads.
    static func schema(_ version: APIVersion) -> JSONSchema.Member {
        .required(
            "recipients",
            .array(of: UserIDJSON.namingSchema(version), 1...Announcement.recipientLimit))
    }
}
