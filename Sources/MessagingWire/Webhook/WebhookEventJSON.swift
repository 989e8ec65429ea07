public import JSON
public import Messaging

/// What a webhook of version 1.0 carries, and what an export lists (webhooks §4).
///
/// Receivers sign what `JSON.stringify(JSON.parse(body))` gives them, so members come in the order
/// that round trip has: names that are array indices first, ascending (webhooks §3.2).
public struct WebhookEventJSON: Sendable {
    /// What it happened to.
    public enum Subject: Sendable {
        case message(WebhookMessageJSON)
        case conversation(ConversationJSON)
    }

    private let occurrence: Occurrence
    private let subject: Subject

    /// An occurrence to tell.
    public init(_ occurrence: Occurrence, _ subject: Subject) {
        self.occurrence = occurrence
        self.subject = subject
    }

    /// Writes the object; `presentation` is that of the system in 1.0.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("event")
            writer.object { writer in
                writer.member("created_at", TimestampJSON.text(occurrence.at))
                writer.member("type", TopicJSON.text(occurrence.topic))
                writer.member("id", occurrence.id.uuid)
                if let actor = occurrence.actor { write(actor, into: &writer) }
            }
            switch subject {
            case .message(let message):
                writer.key("message")
                message.write(presentation, into: &writer)
            case .conversation(let conversation):
                writer.key("conversation")
                conversation.writeForWebhook(presentation, into: &writer)
            }
        }
    }

    /// Exactly one of both members (webhooks §4.1).
    private func write(_ actor: Sender, into writer: inout JSONWriter) {
        writer.key("actor")
        writer.object { writer in
            switch actor {
            case .user(let user): writer.member("user_id", user.text)
            case .named(let name): writer.member("name", name)
            }
        }
    }
}
