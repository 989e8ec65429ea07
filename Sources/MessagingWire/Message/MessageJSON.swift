public import JSON
public import Messaging

/// A message as answers show it, in all versions and perspectives (platform-api §3.3).
///
/// Every member of the version is always written, `null` without a value: clients since 2016
/// expect that, in the answer to a `POST` as well.
public struct MessageJSON: Sendable {
    /// The status of the message for one recipient.
    public typealias Status = (user: UserID, status: RecipientStatus)

    /// The message.
    private let message: Message
    /// The identity of the sender; `nil` for a service that has only a name.
    private let sender: BasicIdentity?
    /// One entry for each participant at sending time, in the order of naming (R71).
    private let recipientStatus: [Status]
    /// Whether the viewing user has not read it; `nil` for the system.
    private let isUnread: Bool?
    /// The moment when it reached the viewing user; `nil` for history before they joined, and for the
    /// system.
    private let receivedAt: Timestamp?

    /// A message to show.
    public init(
        _ message: Message, sender: BasicIdentity?, recipientStatus: [Status],
        isUnread: Bool? = nil, receivedAt: Timestamp? = nil
    ) {
        self.message = message
        self.sender = sender
        self.recipientStatus = recipientStatus
        self.isUnread = isUnread
        self.receivedAt = receivedAt
    }

    /// Writes the object.
    ///
    /// - Parameter isJustSent: True for the answer to the `POST` that sent it, where 1.x shows the
    ///   short URL.
    public func write(
        _ presentation: Presentation, isJustSent: Bool = false, into writer: inout JSONWriter
    ) {
        let links = presentation.links
        let conversation = links.conversation(message.conversation)
        let url = links.message(message.id, below: conversation)
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(message.id, in: .messages))
            writer.member(
                "url",
                isJustSent && !presentation.version.namesIdentities
                    ? links.shortMessage(message.id) : url)
            writer.member("receipts_url", links.receipts(message.id))
            write(position: presentation, into: &writer)
            writer.key("conversation")
            writer.object { writer in
                writer.member("id", IdentifierJSON.text(message.conversation, in: .conversations))
                writer.member("url", conversation)
            }
            writer.key("parts")
            writer.array { writer in
                for part in message.parts {
                    MessagePartJSON.write(part, of: message, url, presentation, into: &writer)
                }
            }
            writer.member("sent_at", TimestampJSON.text(message.sentAt))
            writer.member("received_at", receivedAt.map(TimestampJSON.text))
            writer.key("is_unread")
            if let isUnread { writer.bool(isUnread) } else { writer.null() }
            writer.key("sender")
            BasicIdentityJSON.write(
                sender: message.sender, sender, presentation.version, links, into: &writer)
            write(status: presentation.version, into: &writer)
            write(latest: presentation.version, into: &writer)
            if presentation.showsTransfer {
                MessageTransferJSON.write(message.transfer, into: &writer)
            }
        }
    }

    /// 1.x shows the system none (recorded).
    private func write(position presentation: Presentation, into writer: inout JSONWriter) {
        writer.key("position")
        switch presentation.links.perspective {
        case .system where !presentation.version.namesIdentities: writer.null()
        case .system, .user: PositionJSON.write(message.position, into: &writer)
        }
    }

    private func write(status version: APIVersion, into writer: inout JSONWriter) {
        writer.key("recipient_status")
        writer.object { writer in
            for entry in recipientStatus {
                writer.key(UserIDJSON.text(entry.user, version))
                writer.string(entry.status.rawValue)
            }
        }
    }

    /// Writes the members of 3.0 around `notification`, which is always `null`.
    private func write(latest version: APIVersion, into writer: inout JSONWriter) {
        if version == .v3_0 {
            writer.member("channel", nil)
            writer.member("reply_to", nil)
        }
        writer.member("notification", nil)
        if version == .v3_0 {
            writer.member("updated_at", message.updatedAt.map(TimestampJSON.text))
        }
    }
}

extension MessageJSON {
    /// A message in every perspective; what only a user has is `null` for the system.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [
            .required("id", .identifier(.messages)),
            .required("url", .url),
            .required("receipts_url", JSONSchema.url.orNull),
            .required("position", JSONSchema.integer(0 ... .max).orNull),
            .required(
                "conversation",
                .object([.required("id", .identifier(.conversations)), .required("url", .url)])),
            .required("parts", .array(of: MessagePartJSON.schema(version), 1...Message.partLimit)),
            .required("sent_at", .time),
            .required("received_at", JSONSchema.time.orNull),
            .required("is_unread", JSONSchema.boolean.orNull),
            .required("sender", BasicIdentityJSON.senderSchema(version)),
            .required(
                "recipient_status",
                .object([], others: .choice(["sent", "delivered", "read"]))),
        ]
        if version == .v3_0 {
            members.append(.required("channel", .null))
            members.append(.required("reply_to", .null))
        }
        members.append(.required("notification", .null))
        if version == .v3_0 { members.append(.required("updated_at", JSONSchema.time.orNull)) }
        members.append(.optional("transfer", MessageTransferJSON.schema))
        return .named("Message", .object(members))
    }
}

/// Places as numbers: multiples of 65,536, as the original service showed them (platform-api §3.3).
enum PositionJSON {
    static let step: Int64 = 65_536

    /// No position comes near 2^47, where the result is capped instead of trapping: imports begin below
    /// 2^36 (ruling 25), and every later position is a stored row.
    static func number(_ position: Position) -> Int64 {
        let (number, isTooLarge) = position.number.multipliedReportingOverflow(by: step)
        return isTooLarge ? .max : number
    }

    static func write(_ position: Position, into writer: inout JSONWriter) {
        writer.integer(number(position))
    }
}

extension MessageJSON {
    /// A message with the identities of the users it mentions.
    public init(_ snapshot: MessageSnapshot) {
        self.init(
            snapshot.message, sender: snapshot.sender,
            recipientStatus: snapshot.recipients.map { entry in (entry.userID, entry.status) },
            isUnread: snapshot.isUnread, receivedAt: snapshot.receivedAt)
    }
}
