public import JSON
public import Messaging

/// The parsed body of `POST …/messages` (platform-api §5.2.1).
public struct MessageDraftJSON: Sendable {
    /// The message to send.
    public let draft: Message.Draft
    /// When the message is to be sent; `nil` for immediately.
    public let schedule: Schedule?

    /// Reads a draft in the fixed order of platform-api §1.6: `sender` (or `sender_id`), `parts`,
    /// `notification`, `schedule`, `id`.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    /// - Throws: The first error, with the name of the invalid member.
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

    /// Reads the message of a user; `sender` and `sender_id` are ignored.
    ///
    /// - Parameter user: The sender from the path, evaluated after the body (R114).
    /// - Throws: The first error of `parts`, `notification` and `id`.
    public static func read(
        _ body: JSONValue, by user: @autoclosure () throws(Rejection) -> UserID
    ) throws(Rejection) -> Message.Draft {
        let parts = try MessagePartJSON.list(body)
        let notification = try NotificationJSON.read(body)
        let id: Message.ID? = try IdentifierJSON.proposed(in: body, .messages, .messageID)
        return try Message.Draft(
            sender: .user(user()), parts: parts, notification: notification, proposedID: id)
    }

    /// Returns the body of the request with which a user sends a draft; ``read(_:by:)`` reads it.
    public static func userBody(_ draft: Message.Draft) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            if let id = draft.proposedID {
                writer.member("id", IdentifierJSON.text(id, in: .messages))
            }
            writer.key("parts")
            writer.array { writer in
                for part in draft.parts { MessagePartJSON.write(draft: part, into: &writer) }
            }
            if let notification = draft.notification {
                writer.member("notification", raw: notification)
            }
        }
        return writer.finish()
    }
}

extension MessageDraftJSON {
    /// The schema of what ``init(_:_:)`` reads.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "MessageDraft",
            .object(
                SenderJSON.schema(version) + content(version) + [
                    .optional("schedule", ScheduleJSON.schema),
                    .optional("id", .name(in: .messages)),
                ]))
    }

    /// The schema of what ``read(_:by:)`` reads.
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
}

/// A batch of messages, the other body of `POST …/messages` from 2.0 on (platform-api §5.2.1).
public enum MessageBatchJSON {
    /// Whether a body is a batch in that version.
    public static func isBatch(_ body: JSONValue, _ version: APIVersion) -> Bool {
        version.namesIdentities && body.kind == .array
    }

    /// Reads the messages one after another, each as ``MessageDraftJSON`` does.
    ///
    /// - Parameter body: An array.
    /// - Throws: `invalid("messages")` for no message, more than 12, or an element that is not an object; the first
    ///   error of a message; `invalid("id")` for an id that two messages propose.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> [Message.BatchItem] {
        guard (1...Message.batchLimit).contains(body.count) else {
            throw .invalid("messages", .batchCount, .init(amount: body.count))
        }
        var ids: Set<Message.ID> = []
        var batch: [Message.BatchItem] = []
        for element in body.elements {
            guard element.kind == .object else { throw .invalid("messages", .batchElement) }
            let message = try MessageDraftJSON(element, version)
            if let id = message.draft.proposedID, !ids.insert(id).inserted {
                throw .invalid("id", .messageIDTwice)
            }
            batch.append(Message.BatchItem(message.draft, message.schedule))
        }
        return batch
    }
}

extension MessageBatchJSON {
    /// The schema of the body of `POST …/messages`: one message, or from 2.0 on a batch.
    public static func sendingSchema(_ version: APIVersion) -> JSONSchema {
        let one = MessageDraftJSON.schema(version)
        guard version.namesIdentities else { return one }
        return .anyOf([one, .array(of: one, 1...Message.batchLimit)])
    }
}

/// The sender in requests and responses (platform-api §1.3, §5.2.1).
enum SenderJSON {
    /// The schema of the members that ``read(_:_:)`` reads.
    static func schema(_ version: APIVersion) -> [JSONSchema.Member] {
        guard !version.namesIdentities else {
            return [.required("sender_id", UserIDJSON.namingSchema(version)), olderName]
        }
        let sender = JSONSchema.object([
            .optional("user_id", UserIDJSON.bareSchema),
            .optional("name", .storable(length: 1...128)),
        ]).withDescription("Either a participant by `user_id`, or a service by `name`.")
        return [.required("sender", sender)]
    }

    /// The sender as 1.x names it, which later versions accept too.
    static let olderName = JSONSchema.Member.accepted(
        "sender", .object([.optional("user_id", UserIDJSON.bareSchema)]))

    /// Reads the sender of a message.
    ///
    /// 1.x requires `sender`, later versions `sender_id`; each accepts the other if its own is missing.
    /// Service names no longer exist from 2.0 on (ruling 10).
    ///
    /// - Returns: The sender, and the member that named it.
    static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> (sender: Sender, property: String) {
        let (object, id) = (body.present("sender"), body.present("sender_id"))
        if let id, version.namesIdentities || object == nil { return try read(id: id) }
        if let object { return try read(object: object, version) }
        throw .missing(version.namesIdentities ? "sender_id" : "sender")
    }

    private static func read(
        id: JSONValue
    ) throws(Rejection) -> (sender: Sender, property: String) {
        guard let user = id.string.flatMap(UserIDJSON.read(identity:)) else {
            throw .invalid("sender_id", .senderID)
        }
        return (.user(user), "sender_id")
    }

    private static func read(
        object: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> (sender: Sender, property: String) {
        guard object.kind == .object else { throw .invalid("sender", .senderObject) }
        switch (object.present("user_id"), object.present("name")) {
        case (_?, _?): throw .invalid("sender", .senderChoice)
        case (nil, nil): throw .missing("sender.user_id")
        case (let id?, nil):
            guard let user = UserIDJSON.read(id, version) else {
                throw .invalid("sender.user_id", .senderUser)
            }
            return (.user(user), "sender.user_id")
        case (nil, let name?):
            guard !version.namesIdentities else { throw .invalid("sender.name", .senderNameGone) }
            guard let text = name.string else { throw .invalid("sender.name", .senderName) }
            return (try .service(text), "sender.name")
        }
    }
}

/// The time at which a message is to be sent (platform-api §5.2.1, Schedule).
private enum ScheduleJSON {
    /// Reads the member `schedule` in seconds with fractions; `nil` if there is none.
    static func read(_ body: JSONValue) throws(Rejection) -> Schedule? {
        guard let value = body.present("schedule") else { return nil }
        guard value.kind == .object else { throw .invalid("schedule", .scheduleObject) }
        guard let delay = try milliseconds(value, "delay_in_seconds", .scheduleDelay) else {
            throw .missing("schedule.delay_in_seconds")
        }
        // The delay is validated before the typing time (ruling 1).
        _ = try Schedule(delay: delay)
        // 0 means no typing indicator (ruling 23).
        let typing =
            value.present("typing_indicator_in_seconds")?.double == 0
            ? nil : try milliseconds(value, "typing_indicator_in_seconds", .scheduleTyping)
        return try Schedule(delay: delay, typing: typing)
    }

    /// Reads seconds as milliseconds. The range of 1 to 300 seconds is checked before rounding.
    private static func milliseconds(
        _ schedule: JSONValue, _ name: String, _ rule: ValidationRule
    ) throws(Rejection) -> Int64? {
        guard let value = schedule.present(name) else { return nil }
        guard let seconds = value.double, seconds >= 1, seconds <= 300 else {
            throw .invalid("schedule.\(name)", rule)
        }
        return Int64((seconds * 1000).rounded())
    }
}

extension ScheduleJSON {
    /// The schema of what ``read(_:)`` reads.
    static let schema = JSONSchema.named(
        "Schedule",
        .object([
            .required("delay_in_seconds", .number(1...300)),
            .optional(
                "typing_indicator_in_seconds",
                JSONSchema.number(0...300).withDescription(
                    "0 for none, otherwise 1 up to the delay.")),
        ]))
}
