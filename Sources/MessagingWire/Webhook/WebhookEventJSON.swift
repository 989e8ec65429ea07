public import JSON
public import Messaging

/// What a webhook carries, and, as of version 1.0, what an export lists (webhooks §4).
///
/// Receivers sign what `JSON.stringify(JSON.parse(body))` gives them, so members come in the order
/// that round trip has: names that are array indices first, ascending (webhooks §3.2).
public struct WebhookEventJSON: Sendable {
    /// What it happened to.
    public enum Subject: Sendable {
        case message(WebhookMessageJSON)
        case conversation(ConversationJSON)
        /// A conversation, and the ids that lead to it since others became part of it (X1.5).
        case merged(ConversationJSON, aliases: [Conversation.ID])
        /// Messages that were received or read, first and last.
        case receipt(Receipts.Kind, ClosedRange<Int64>, in: Conversation.ID)
        /// Users who came or went.
        case participation(ConversationJSON, changes: [BasicIdentity])
        /// One part.
        case part(WebhookPartJSON)
    }

    private let occurrence: Occurrence
    private let actor: BasicIdentity?
    private let subject: Subject

    /// An occurrence to tell.
    ///
    /// - Parameter actor: What is known of the user who did it.
    public init(_ occurrence: Occurrence, by actor: BasicIdentity?, _ subject: Subject) {
        self.occurrence = occurrence
        self.actor = actor
        self.subject = subject
    }

    /// Writes the object; `presentation` is that of the system, in 1.0 or from 2.0 on.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            if presentation.version.namesIdentities {
                writeHead(presentation, into: &writer)
            } else {
                writeFirstHead(into: &writer)
            }
            write(subject, presentation, into: &writer)
        }
    }

    private func write(
        _ subject: Subject, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        switch subject {
        case .message(let message):
            writer.key("message")
            message.write(presentation, into: &writer)
        case .conversation(let conversation): write(conversation, presentation, into: &writer)
        case .merged(let conversation, let aliases):
            write(conversation, presentation, into: &writer)
            writer.key("aliases")
            writer.array { writer in
                for alias in aliases {
                    writer.string(IdentifierJSON.text(alias, in: .conversations))
                }
            }
        case .receipt(let kind, let range, let conversation):
            writer.key("conversation")
            WebhookMessageJSON.write(conversation, presentation.links, into: &writer)
            writer.key("receipt")
            write(kind, range, into: &writer)
        case .participation(let conversation, let changes):
            write(conversation, presentation, into: &writer)
            writer.key("changes")
            writer.array { writer in
                for identity in changes {
                    BasicIdentityJSON.write(
                        identity, url: presentation.links.webhookIdentity(identity.userID),
                        into: &writer)
                }
            }
        case .part(let part): part.write(presentation, into: &writer)
        }
    }

    private func write(
        _ conversation: ConversationJSON, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        writer.key("conversation")
        conversation.writeForWebhook(presentation, into: &writer)
    }

    private func write(
        _ kind: Receipts.Kind, _ range: ClosedRange<Int64>, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("type", kind == .read ? "Read" : "Delivery")
            writer.key("positions")
            writer.object { writer in
                writer.key("from")
                PositionJSON.write(Position(range.lowerBound), into: &writer)
                writer.key("to")
                PositionJSON.write(Position(range.upperBound), into: &writer)
            }
        }
    }
}

// MARK: - What stands before it (webhooks §4.1)

extension WebhookEventJSON {
    private func writeFirstHead(into writer: inout JSONWriter) {
        writer.key("event")
        writer.object { writer in
            writer.member("created_at", TimestampJSON.text(occurrence.at))
            writer.member("type", TopicJSON.text(occurrence.topic, .v1_0))
            writer.member("id", occurrence.id.uuid)
            // Who changed a conversation is not told.
            guard case .message = subject, let actor = occurrence.actor else { return }
            writer.key("actor")
            writer.object { writer in
                switch actor {
                case .user(let user): writer.member("user_id", user.text)
                case .named(let name): writer.member("name", name)
                }
            }
        }
    }

    private func writeHead(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.key("event")
        writer.object { writer in
            writer.member("id", occurrence.id.uuid)
            writer.member("type", TopicJSON.text(occurrence.topic, .v3_0))
            writer.member("created_at", TimestampJSON.text(occurrence.at))
        }
        guard let who = occurrence.actor else { return }
        writer.key("actor")
        BasicIdentityJSON.writeForWebhook(who, actor, presentation, into: &writer)
    }
}
