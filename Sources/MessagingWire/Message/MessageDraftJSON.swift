public import JSON
public import Messaging

/// The body of `POST …/messages` (platform-api §5.2.1), read.
public struct MessageDraftJSON: Sendable {
    /// What shall be sent.
    public let draft: Message.Draft
    /// When the message shall be sent; `nil` for now.
    public let schedule: Schedule?

    /// Reads a draft, member by member in the fixed order of platform-api §1.6: `sender` (or
    /// `sender_id`), `parts`, `notification`, `schedule`, at last `id`.
    ///
    /// - Parameter body: An object; members it does not know are ignored.
    /// - Throws: The first problem, with the name of the member at fault.
    public init(_ body: JSONValue, _ version: APIVersion) throws(Rejection) {
        let sender = try SenderJSON.read(body, version)
        let parts = try MessagePartJSON.list(body)
        let notification = try NotificationJSON.read(body)
        schedule = try ScheduleJSON.read(body)
        draft = try Message.Draft(
            sender: sender.sender,
            admission: version.namesIdentities ? .identities : .participants,
            senderProperty: sender.property, parts: parts, notification: notification,
            proposedID: IdentifierJSON.proposed(in: body, .messages, .messageID))
    }

    /// Reads what a user sends himself: no `sender` is needed, and one given is not looked at.
    ///
    /// - Parameter user: Who sends, as the path says; looked at after the body (R114).
    /// - Throws: The first problem of `parts`, `notification` and `id`.
    public static func read(
        _ body: JSONValue, by user: @autoclosure () throws(Rejection) -> UserID
    ) throws(Rejection) -> Message.Draft {
        let parts = try MessagePartJSON.list(body)
        let notification = try NotificationJSON.read(body)
        let id: Message.ID? = try IdentifierJSON.proposed(in: body, .messages, .messageID)
        return try Message.Draft(
            sender: .user(user()), parts: parts, notification: notification, proposedID: id)
    }
}
