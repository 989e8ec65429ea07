import Messaging
import MessagingWire

/// What the value of a parameter or member has to be, in words: of those that mean the same wherever they stand.
enum PropertyRule {
    /// - Returns: What follows "it has to be"; `nil` for a name that has several meanings, or was made up.
    static func text(_ name: String) -> String? { all[name] }

    private static let all: [String: String] = [
        // The log.
        "after": "a position of the log, in digits, that is not beyond its end",
        "before": "a position of the log above the one of 'after'",
        "Last-Event-ID": "the id of an event of this log",
        "limit": "a whole number from 1; above \(EventQuery.largest) it is cut",
        "wait": "a whole number of seconds; above \(EventQuery.longestWait / 1000) it is cut",
        "types": "types of events, parted by commas",
        // Lists.
        "page_size": "a whole number from 1",
        "from_id": "the id of an object that this list may hold",
        "sort_by": "created_at or last_message",
        // Webhooks.
        "version": "\"1.0\", \"2.0\" or \"3.0\"",
        "target_url": """
        an absolute URL of at most \(Webhook.Draft.targetLimit) characters that begins with https:// and leads to a \
        public host, unless this server's settings allow others
        """,
        "events": "an array of names of events of the webhook's version, with one at least",
        "secret": "a text of 1 to \(Webhook.Draft.secretLimit) characters",
        "config": """
        an object of texts, \(Webhook.Draft.settingLimit) at most, whose names and values have at most \
        \(Webhook.Draft.configLimit) bytes together
        """,
        "keep_for_seconds": "a whole number from 0 to \(WebhookSecretJSON.longest)",
        "state": WebhookDelivery.State.allCases.map(\.rawValue).joined(separator: " or "),
        // Conversations and messages.
        "participants": "an array of 1 to \(Participants.limit) different users",
        "distinct": "true or false",
        "recipients": "an array of 1 to \(Announcement.recipientLimit) users",
        "messages": "an array of 1 to \(Message.batchLimit) messages",
        "parts": """
        an array of 1 to \(Message.partLimit) parts with at most \(Message.sizeLimit) bytes together
        """,
        "parts.mime_type": "a text with something on both sides of a slash",
        "parts.body": """
        a text of at most \(MessagePart.inlineLimit) bytes, counted behind its encoding
        """,
        "parts.encoding": "base64",
        "parts.content": """
        the id and the size of a content of this conversation that has been uploaded
        """,
        "sender": "either a user_id or a name",
        "sender.name": "a text of 1 to 128 characters",
        "schedule.delay_in_seconds": "a number from 1 to 300",
        "schedule.typing_indicator_in_seconds": "a number from 1 to the delay",
        "operation": "add, remove, set or delete",
        // Exports.
        "public_key": "a public RSA key of 2048 bits or more, in PEM",
    ]
}
