import Messaging
import MessagingWire

/// What the value of a parameter or member has to be, in words.
///
/// A rejection knows the name alone: where one has several meanings, its rule tells of each.
enum PropertyRule {
    /// - Returns: What follows "it has to be"; `nil` for a name that was made up.
    static func text(_ name: String) -> String? {
        if let rule = all[name] { return rule }
        // A property of a patch, or a filter.
        if name.hasPrefix("metadata.") { return all["metadata"] }
        return Identity.Member(rawValue: name).map(text)
    }

    private static func text(_ member: Identity.Member) -> String {
        let least = member == .displayName ? "a text of 1 to" : "a text of at most"
        let text = member.limit.map { limit in "\(least) \(limit) characters" } ?? "a text"
        return "\(text) without U+0000, which a patch can only set"
    }

    private static let all: [String: String] = [
        // The log.
        "as_of": "a position of the log, in digits, that is not beyond its end; without filters",
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
        "q": "a text of at least one character",
        "exact": "true or false, and true only with 'participants'",
        "created_after": time,
        "created_before": time,
        "sent_after": time,
        "sent_before": time,
        "unread_by": "a user",
        "mime_type": "a media type, or a range of them such as image/*",
        "transfer_status": choice(TransferStatus.self),
        "inline_max_size": "a whole number of bytes up to \(InlinePolicy.sizeLimit)",
        "inline_types": """
        at most \(InlinePolicy.mostTypes) media types, or ranges of them, parted by commas
        """,
        // Webhooks.
        "version": "\"1.0\", \"2.0\" or \"3.0\"",
        "target_url": """
        an absolute URL of at most \(Webhook.Draft.targetLimit) characters that begins with https:// and leads to a \
        public host, unless this server's settings allow others
        """,
        "events": """
        an array of names of events, with one at least: of those of the webhook's version, or for exports of 1.0
        """,
        "secret": "a text of 1 to \(Webhook.Draft.secretLimit) characters",
        "config": """
        an object of texts, \(Webhook.Draft.settingLimit) at most, whose names and values have at most \
        \(Webhook.Draft.configLimit) bytes together
        """,
        "keep_for_seconds": "a whole number from 0 to \(WebhookSecretJSON.longest)",
        "state": choice(WebhookDelivery.State.self),
        // Everything that is made or changed.
        "id": """
        a UUID, or a URI of this kind of object that ends with one; nothing else in the request has it
        """,
        "operation": "add, remove, set or delete",
        "property": "the name of a property that a patch of this object may change",
        "value": "of the kind that its property holds",
        "metadata": """
        an object of texts of at most \(MetadataLimits.bytesInText) bytes under names of letters of ASCII, digits, - \
        and _: of an identity \(Identity.metadataLimit) at most; of a conversation also of such objects, in \
        \(MetadataLimits.depth) levels, with \(MetadataLimits.bytesInTree) bytes in all; a patch can only set and \
        delete in it
        """,
        // Conversations and messages.
        "participants": "1 to \(Participants.limit) different users, which a patch cannot delete",
        "distinct": "true or false",
        "mode": "all_participants or my_devices",
        "leave": "true or false",
        "destroy": "true or false",
        "messages": "an array of 1 to \(Message.batchLimit) messages",
        "parts": """
        an array of 1 to \(Message.partLimit) parts with at most \(Message.sizeLimit) bytes together
        """,
        "parts.id": "the id of a part, or its UUID, that no other part of the message has",
        "parts.mime_type": mediaType,
        "parts.body": """
        a text of at most \(MessagePart.inlineLimit) bytes, counted behind its encoding
        """,
        "parts.encoding": "base64",
        "parts.content": """
        the id and the size of a content of this conversation that has been uploaded
        """,
        "sender": "a user; in a body an object with either a user_id or a name",
        "sender.name": "a text of 1 to 128 characters",
        "sender.user_id": "a user who may send there; an announcement is sent by a name",
        "sender_id": "the identity of a user who may send there",
        "notification": """
        an object whose members have the types of the API's description, and whose recipients are users
        """,
        "schedule": "an object with delay_in_seconds",
        "schedule.delay_in_seconds": "a number from 1 to 300",
        "schedule.typing_indicator_in_seconds": "0 for none, or a number from 1 to the delay",
        "position": "a whole number from 0",
        // Contents.
        "Upload-Content-Type": mediaType,
        "Upload-Content-Length": "a whole number of bytes up to \(Message.sizeLimit)",
        "dl": "1",
        "include": "transfer",
        // Users.
        "recipients": "an array of 1 to \(Announcement.recipientLimit) users",
        "blocks": "at most \(UserPatch.blockLimit) users, which a patch cannot delete",
        "following": "an array of at most \(UserPatch.blockLimit) users",
        "identity_type": identityKind,
        "type": identityKind,
        "user_id": "a user; one user blocks at most \(UserPatch.blockLimit)",
        "suspended": "true or false, which a patch can only set",
        "external_unread_count": """
        a whole number from 0 to \(Badge.externalUnreadCounts.upperBound), which a patch can only set
        """,
        // The application.
        "contents": choice(ContentWish.self),
        "session_ttl_in_seconds": """
        a whole number from \(Application.sessionLifetimes.lowerBound) to \
        \(Application.sessionLifetimes.upperBound), which a patch can only set
        """,
        "interval": choice(ExportSchedule.Interval.self),
        "public_key": "a text; for exports a public RSA key of 2048 bits or more, in PEM",
    ]

    private static func choice<Value: CaseIterable & RawRepresentable<String>>(
        _ values: Value.Type
    ) -> String {
        values.allCases.map(\.rawValue).joined(separator: " or ")
    }

    private static let identityKind = "\(choice(Identity.Kind.self)), which a patch can only set"
    private static let time = "a time such as 2026-05-02T14:34:27Z"
    private static let mediaType = "a text with something on both sides of a slash"
}
