import JSON
import Messaging

/// A message in webhook requests (webhooks §4.1).
enum WebhookMessageJSON {
    /// Writes an existing message, or a deleted one as it was before.
    static func write(
        _ snapshot: MessageSnapshot, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.object { writer in writeMembers(of: snapshot, presentation, into: &writer) }
    }

    private static func writeMembers(
        of snapshot: MessageSnapshot, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        let (message, version) = (snapshot.message, presentation.version)
        writeNames(message.id, message.conversation, presentation, into: &writer)
        writer.key("parts")
        writer.array { writer in
            for part in message.parts {
                WebhookPartJSON.write(
                    part, of: message.id, in: message.conversation, presentation, into: &writer)
            }
        }
        writer.member("sent_at", TimestampJSON.text(message.sentAt))
        writer.key("sender")
        BasicIdentityJSON.writeForWebhook(
            message.sender, snapshot.sender, presentation, into: &writer)
        writer.key("recipient_status")
        writer.object { writer in
            let entries = snapshot.recipients.map { recipient in
                (name: UserIDJSON.text(recipient.userID, version), status: recipient.status)
            }
            for entry in entries.inMemberOrder(by: \.name) {
                writer.key(entry.name)
                writer.string(entry.status.rawValue)
            }
        }
        if let counts = snapshot.recipientCounts { counts.write(into: &writer) }
        guard version.namesIdentities else { return }
        writer.key("position")
        PositionJSON.write(message.position, into: &writer)
    }

    /// Writes `id`, `url` and `conversation`; 1.0 has the short URL.
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

/// A part of a message in webhook requests; members that are `null` in responses are omitted (webhooks §4.1).
enum WebhookPartJSON {
    /// Writes an existing part.
    static func write(
        _ part: MessagePart, of message: Message.ID, in conversation: Conversation.ID,
        _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writeNames(part.id, part.index, of: message, presentation, into: &writer)
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

    /// Writes a removed part, which has only its ids.
    static func write(
        _ removed: PartsChanged.Removed, of message: Message.ID, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writeNames(removed.id, removed.index, of: message, presentation, into: &writer)
        }
    }

    /// Writes a part's index in 1.0, its UUID and a URL from 2.0 on.
    private static func writeNames(
        _ id: MessagePart.ID, _ index: Int, of message: Message.ID, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        let isNamed = presentation.version.namesIdentities
        let name = isNamed ? id.uuid : String(index)
        writer.member(
            "id", String(pieces: IdentifierJSON.text(message, in: .messages), "/parts/", name))
        if isNamed { writer.member("url", presentation.links.webhookPart(id, of: message)) }
    }
}
