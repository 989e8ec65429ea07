import Bytes
public import JSON
public import Messaging

/// A message as answers show it, in all versions and perspectives (platform-api §3.3).
///
/// Every member of the version is always written, `null` without a value: clients since 2016
/// expect that, in the answer to a `POST` as well.
public struct MessageJSON: Equatable, Sendable {
    /// The message and what depends on its viewer.
    public let snapshot: MessageSnapshot

    /// A message to show.
    public init(_ snapshot: MessageSnapshot) { self.snapshot = snapshot }

    /// Writes the object.
    ///
    /// - Parameter isJustSent: True for the answer to the `POST` that sent it, where 1.x shows the
    ///   short URL.
    public func write(
        _ presentation: Presentation, isJustSent: Bool = false, into writer: inout JSONWriter
    ) {
        var messages = MessageWriter(presentation)
        messages.write(self, isJustSent: isJustSent, into: &writer)
    }
}

/// Writes the messages of one answer; what consecutive messages have in common is encoded once.
public struct MessageWriter: Sendable {
    private let presentation: Presentation
    private var conversation: EncodedConversation?
    private var sender: EncodedSender?
    private var status: EncodedStatus?

    private struct EncodedConversation {
        let id: Conversation.ID
        /// The member `conversation`.
        let json: [UInt8]
        /// The URL of a message, up to its id.
        let messages: EscapedText
    }

    private struct EncodedSender {
        let sender: Sender
        let identity: BasicIdentity?
        /// The member `sender`.
        let json: [UInt8]
    }

    private struct EncodedStatus {
        let recipients: [MessageSnapshot.Recipient]
        /// The member `recipient_status`.
        let json: [UInt8]
    }

    /// A writer of messages in one perspective.
    public init(_ presentation: Presentation) { self.presentation = presentation }

    /// Writes a message.
    ///
    /// - Parameter isJustSent: As in ``MessageJSON/write(_:isJustSent:into:)``.
    public mutating func write(
        _ message: MessageJSON, isJustSent: Bool = false, into writer: inout JSONWriter
    ) {
        let shown = message.snapshot
        let (message, links, version) = (
            shown.message, presentation.links, presentation.version
        )
        let conversation = encoded(message.conversation)
        let sender = encodedSender(shown)
        writer.object { writer in
            writer.key("id")
            writer.string(
                MessagePartJSON.idStart, thenAtMost: Message.ID.textSize, message.id.append)
            writer.key("url")
            if isJustSent, !version.namesIdentities {
                writer.string(links.shortMessage(message.id))
            } else {
                writer.string(
                    conversation.messages, thenAtMost: Message.ID.textSize, message.id.append)
            }
            writeReceiptsURL(message.id, conversation, into: &writer)
            write(message.position, into: &writer)
            writer.member("conversation", raw: conversation.json)
            writer.key("parts")
            writer.array { writer in
                for part in message.parts {
                    MessagePartJSON.write(
                        part, of: message, conversation.messages, presentation, into: &writer)
                }
            }
            writer.key("sent_at")
            TimestampJSON.write(message.sentAt, into: &writer)
            writer.key("received_at")
            TimestampJSON.write(shown.receivedAt, into: &writer)
            writer.key("is_unread")
            if let isUnread = shown.isUnread { writer.bool(isUnread) } else { writer.null() }
            writer.member("sender", raw: sender)
            if presentation.countsRecipients {
                shown.countedRecipients.write(as: "recipient_status", into: &writer)
            } else {
                writer.member("recipient_status", raw: encodedStatus(shown.recipients))
                if let counts = shown.recipientCounts { counts.write(into: &writer) }
            }
            writeLatest(of: message, into: &writer)
            if presentation.showsTransfer {
                MessageTransferJSON.write(message.transfer, into: &writer)
            }
        }
    }

    /// Writes the URL for receipts of the viewing user; `null` for the system, which sends none.
    private func writeReceiptsURL(
        _ id: Message.ID, _ conversation: EncodedConversation, into writer: inout JSONWriter
    ) {
        writer.key("receipts_url")
        switch presentation.links.perspective {
        case .system: writer.null()
        case .user:
            writer.string(conversation.messages, thenAtMost: Message.ID.textSize + 9) { text in
                id.append(to: &text)
                text.append("/receipts")
            }
        }
    }

    /// Writes the position; `null` for the system in 1.x (recorded).
    private func write(_ position: Position, into writer: inout JSONWriter) {
        writer.key("position")
        switch presentation.links.perspective {
        case .system where !presentation.version.namesIdentities: writer.null()
        case .system, .user: PositionJSON.write(position, into: &writer)
        }
    }

    /// Writes the members of 3.0 around `notification`, which is always `null`.
    private func writeLatest(of message: Message, into writer: inout JSONWriter) {
        if presentation.version == .v3_0 {
            writer.member("channel", nil)
            writer.member("reply_to", nil)
        }
        writer.member("notification", nil)
        if presentation.version == .v3_0 {
            writer.key("updated_at")
            TimestampJSON.write(message.updatedAt, into: &writer)
        }
    }

    private mutating func encoded(_ id: Conversation.ID) -> EncodedConversation {
        if let conversation, conversation.id == id { return conversation }
        let links = presentation.links
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(id, in: .conversations))
            writer.member("url", links.conversation(id))
        }
        let encoded = EncodedConversation(
            id: id, json: writer.finish(), messages: EscapedText(links.messages(in: id)))
        conversation = encoded
        return encoded
    }

    private mutating func encodedSender(_ shown: MessageSnapshot) -> [UInt8] {
        if let sender, sender.sender == shown.message.sender, sender.identity == shown.sender {
            return sender.json
        }
        var writer = JSONWriter()
        BasicIdentityJSON.write(
            sender: shown.message.sender, shown.sender, presentation.version, presentation.links,
            into: &writer)
        let json = writer.finish()
        sender = EncodedSender(sender: shown.message.sender, identity: shown.sender, json: json)
        return json
    }

    private mutating func encodedStatus(_ recipients: [MessageSnapshot.Recipient]) -> [UInt8] {
        if let status, status.recipients == recipients { return status.json }
        var writer = JSONWriter()
        writer.object { writer in
            for recipient in recipients {
                writer.key(UserIDJSON.text(recipient.userID, presentation.version))
                writer.string(recipient.status.rawValue)
            }
        }
        let json = writer.finish()
        status = EncodedStatus(recipients: recipients, json: json)
        return json
    }
}

extension MessageJSON {
    /// Reads a message of a user's view in version 3.0, as ``write(_:isJustSent:into:)`` writes it.
    ///
    /// The wire has no version of a message; it is read as 1.
    ///
    /// - Returns: `nil` if a member is missing or invalid; unknown members are ignored.
    public static func readResponse(_ object: JSONValue) -> MessageJSON? {
        guard let id: Message.ID = IdentifierJSON.read(object["id"], in: .messages),
            let conversation: Conversation.ID = IdentifierJSON.read(
                object["conversation"]?["id"], in: .conversations),
            let position = object["position"]?.integer, position >= 0,
            let sentAt = TimestampJSON.read(object["sent_at"]),
            let (sender, identity) = object["sender"].flatMap(BasicIdentityJSON.readSender),
            let parts = MessagePartJSON.readResponses(
                object["parts"], otherID: MessagePart.ID(id))
        else { return nil }
        var recipients: [MessageSnapshot.Recipient] = []
        if let statuses = object["recipient_status"] {
            for (user, status) in statuses.members {
                guard let user = UserIDJSON.read(identity: user),
                    let status = status.string.flatMap(RecipientStatus.init(rawValue:))
                else { return nil }
                recipients.append(MessageSnapshot.Recipient(userID: user, status: status))
            }
        }
        return MessageJSON(
            MessageSnapshot(
                message: Message(
                    id: id, conversation: conversation,
                    position: Position(position / PositionJSON.step), sender: sender,
                    sentAt: sentAt, parts: parts,
                    updatedAt: TimestampJSON.read(object["updated_at"])),
                sender: identity, recipients: recipients,
                recipientCounts: object.present("recipient_counts").map(RecipientCounts.init),
                isUnread: object["is_unread"]?.bool,
                receivedAt: TimestampJSON.read(object["received_at"])))
    }

    /// The schema of a message in every perspective; the members of a user's view are `null` for the system.
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
                .anyOf([
                    .object([], others: .choice(["sent", "delivered", "read"])),
                    RecipientCounts.schema,
                ])),
            .optional("recipient_counts", RecipientCounts.schema),
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

/// Positions as numbers: multiples of 65,536, as the original service showed them (platform-api §3.3).
public enum PositionJSON {
    static let step: Int64 = 65_536

    /// Returns a position times 65,536, at most `Int64.max`. No position comes near that limit: imported ones are below
    /// 2^36 (ruling 25), and every later position is a stored row.
    public static func number(_ position: Position) -> Int64 {
        let (number, isTooLarge) = position.number.multipliedReportingOverflow(by: step)
        return isTooLarge ? .max : number
    }

    static func write(_ position: Position, into writer: inout JSONWriter) {
        writer.integer(number(position))
    }
}

extension MessageSnapshot {
    /// The number of recipients in each status, in a narrow conversation too.
    fileprivate var countedRecipients: RecipientCounts {
        recipientCounts
            ?? recipients.reduce(into: RecipientCounts()) { counts, recipient in
                counts[recipient.status] += 1
            }
    }
}

extension RecipientCounts {
    private static let members: [(name: StaticString, status: RecipientStatus)] = [
        ("sent", .sent), ("delivered", .delivered), ("read", .read),
    ]

    /// The object `recipient_counts`.
    static var schema: JSONSchema {
        .object(members.map { member in .required(member.name.description, .integer(0 ... .max)) })
    }

    /// Reads the object `recipient_counts`; a missing number is 0.
    fileprivate init(_ object: JSONValue) {
        self.init()
        for (name, status) in Self.members {
            self[status] = object[name.description]?.integer ?? 0
        }
    }

    /// Writes the numbers as a member, by default as `recipient_counts` (ruling 38).
    func write(as name: StaticString = "recipient_counts", into writer: inout JSONWriter) {
        writer.key(name)
        writer.object { writer in
            for (name, status) in Self.members { writer.member(name, self[status]) }
        }
    }
}
