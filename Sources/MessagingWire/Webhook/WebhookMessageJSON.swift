import JSON
public import Messaging

/// A message as webhooks show it (webhooks §4.1).
public enum WebhookMessageJSON: Sendable {
    /// A message with what it shows, be it there or deleted.
    case whole(MessageJSON)
    /// A deleted one, of which only the name is left.
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

    /// A conversation's names.
    static func write(
        _ conversation: Conversation.ID, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(conversation, in: .conversations))
            writer.member("url", links.conversation(conversation))
        }
    }
}
