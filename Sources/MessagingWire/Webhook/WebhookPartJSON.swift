import JSON
public import Messaging

/// A part of a message as webhooks show it; what is null elsewhere is left out (webhooks §4.1).
public struct WebhookPartJSON: Sendable {
    private let id: MessagePart.ID
    private let index: Int
    /// `nil` of one that is no more.
    private let part: MessagePart?
    private let message: Message.ID
    private let conversation: Conversation.ID

    /// A part to show.
    public init(_ part: MessagePart, of message: Message.ID, in conversation: Conversation.ID) {
        (id, index) = (part.id, part.index)
        self.part = part
        self.message = message
        self.conversation = conversation
    }

    /// A part that is no more, by its names.
    public init(
        _ removed: PartsChanged.Removed, of message: Message.ID, in conversation: Conversation.ID
    ) {
        (id, index) = (removed.id, removed.index)
        part = nil
        self.message = message
        self.conversation = conversation
    }

    /// Writes the members of its own event: the part, and the names of its message (webhooks §4.2).
    func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.key("message_part")
        writePart(presentation, into: &writer)
        writer.key("message")
        writer.object { writer in
            WebhookMessageJSON.writeNames(message, conversation, presentation, into: &writer)
        }
    }

    /// Writes the part; by its index in 1.0, by its UUID and with a URL from 2.0 on.
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
