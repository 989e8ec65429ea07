import Base64
import JSON
public import Messaging

/// A message as webhooks of version 1.0 show it (webhooks §4.1).
public enum WebhookMessageJSON: Sendable {
    /// A message that is there.
    case whole(MessageJSON)
    /// A deleted one, of which only the name is left.
    case deleted(Message.ID, in: Conversation.ID)

    func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .whole(let json):
                let message = json.message
                names(message.id, message.conversation, presentation.links, into: &writer)
                writer.key("parts")
                writer.array { writer in
                    for part in message.parts {
                        write(part, of: message, presentation, into: &writer)
                    }
                }
                writer.member("sent_at", TimestampJSON.text(message.sentAt))
                writer.key("sender")
                BasicIdentityJSON.write(
                    sender: message.sender, json.sender, .v1_0, presentation.links, into: &writer)
                writer.key("recipient_status")
                writer.object { writer in
                    for entry in json.recipientStatus.inMemberOrder(by: \.user.text) {
                        writer.key(entry.user.text)
                        writer.string(entry.status.rawValue)
                    }
                }
            case .deleted(let id, let conversation):
                names(id, conversation, presentation.links, into: &writer)
            }
        }
    }

    private func names(
        _ id: Message.ID, _ conversation: Conversation.ID, _ links: LinkBuilder,
        into writer: inout JSONWriter
    ) {
        writer.member("id", IdentifierJSON.text(id, in: .messages))
        writer.member("url", links.shortMessage(id))
        writer.key("conversation")
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(conversation, in: .conversations))
            writer.member("url", links.conversation(conversation))
        }
    }

    /// Nulls are left out here (webhooks §4.1).
    private func write(
        _ part: MessagePart, of message: Message, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member(
                "id", "\(IdentifierJSON.text(message.id, in: .messages))/parts/\(part.index)")
            writer.member("mime_type", part.mimeType)
            switch part.body {
            case .inline(let bytes):
                MessagePartJSON.writeBody(bytes, into: &writer)
            case .content(let id, let size):
                writer.key("content")
                ContentJSON(id: id, size: size, in: message.conversation)
                    .write(presentation.links, presentation.sign(id), into: &writer)
            }
        }
    }
}
