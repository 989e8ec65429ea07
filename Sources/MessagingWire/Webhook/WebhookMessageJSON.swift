import JSON
public import Messaging

/// A message in webhook requests (webhooks §4.1).
public enum WebhookMessageJSON: Sendable {
    /// A message with all members, existing or deleted.
    case whole(MessageJSON)
    /// The ids of a deleted message.
    case deleted(Message.ID, in: Conversation.ID)

    func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .whole(let json): write(json, presentation, into: &writer)
            case .deleted(let id, let conversation):
                Self.writeNames(id, conversation, presentation, into: &writer)
            }
        }
    }

    private func write(
        _ json: MessageJSON, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        let (message, version) = (json.message, presentation.version)
        Self.writeNames(message.id, message.conversation, presentation, into: &writer)
        writer.key("parts")
        writer.array { writer in
            for part in message.parts {
                WebhookPartJSON(part, of: message.id, in: message.conversation)
                    .writePart(presentation, into: &writer)
            }
        }
        writer.member("sent_at", TimestampJSON.text(message.sentAt))
        writer.key("sender")
        BasicIdentityJSON.writeForWebhook(
            message.sender, json.sender, presentation, into: &writer)
        writer.key("recipient_status")
        writer.object { writer in
            let entries = json.recipientStatus.map { entry in
                (name: UserIDJSON.text(entry.user, version), status: entry.status)
            }
            for entry in entries.inMemberOrder(by: \.name) {
                writer.key(entry.name)
                writer.string(entry.status.rawValue)
            }
        }
        guard version.namesIdentities else { return }
        writer.key("position")
        PositionJSON.write(message.position, into: &writer)
    }

    /// `id`, `url` and `conversation`; 1.0 has the short URL.
    static func writeNames(
        _ id: Message.ID, _ conversation: Conversation.ID, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        let links = presentation.links
        writer.member("id", IdentifierJSON.text(id, in: .messages))
        writer.member(
            "url",
            presentation.version.namesIdentities
                ? links.message(id, in: conversation) : links.shortMessage(id))
        writer.key("conversation")
        write(conversation, links, into: &writer)
    }

    /// Writes the ids of a conversation.
    static func write(
        _ conversation: Conversation.ID, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(conversation, in: .conversations))
            writer.member("url", links.conversation(conversation))
        }
    }
}

/// A part of a message in webhook requests; members that are null elsewhere are omitted (webhooks §4.1).
public struct WebhookPartJSON: Sendable {
    private let id: MessagePart.ID
    private let index: Int
    /// `nil` for a removed part.
    private let part: MessagePart?
    private let message: Message.ID
    private let conversation: Conversation.ID

    /// An existing part.
    public init(_ part: MessagePart, of message: Message.ID, in conversation: Conversation.ID) {
        (id, index) = (part.id, part.index)
        self.part = part
        self.message = message
        self.conversation = conversation
    }

    /// A removed part.
    public init(
        _ removed: PartsChanged.Removed, of message: Message.ID, in conversation: Conversation.ID
    ) {
        (id, index) = (removed.id, removed.index)
        part = nil
        self.message = message
        self.conversation = conversation
    }

    /// Writes the members of a part event: the part, and the ids of its message (webhooks §4.2).
    func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.key("message_part")
        writePart(presentation, into: &writer)
        writer.key("message")
        writer.object { writer in
            WebhookMessageJSON.writeNames(message, conversation, presentation, into: &writer)
        }
    }

    /// Writes the part, by its index in 1.0, by its UUID and with a URL from 2.0 on.
    func writePart(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            let named = presentation.version.namesIdentities
            let name = named ? id.uuid : String(index)
            writer.member(
                "id",
                String(pieces: IdentifierJSON.text(message, in: .messages), "/parts/", name))
            if named {
                writer.member("url", presentation.links.webhookPart(id, of: message))
            }
            guard let part else { return }
            writer.member("mime_type", part.mimeType)
            switch part.body {
            case .inline(let bytes): MessagePartJSON.writeBody(bytes, into: &writer)
            case .content(let id, let size):
                writer.key("content")
                ContentJSON(id: id, size: size, in: conversation)
                    .write(presentation.links, presentation.sign(id), into: &writer)
            }
        }
    }
}
