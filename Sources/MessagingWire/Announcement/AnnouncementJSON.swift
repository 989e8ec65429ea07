public import JSON
public import Messaging

/// An announcement as answers show it, in all versions and perspectives (platform-api §3.6).
public struct AnnouncementJSON: Equatable, Sendable {
    /// The recipients that the viewer sees.
    public enum VisibleRecipients: Equatable, Sendable {
        /// All, for the system.
        case all([UserID])
        /// The viewer itself with its status, for a recipient (R100).
        case viewer(UserID, RecipientStatus)
    }

    /// What was announced.
    public let announcement: Announcement
    /// The identity of the sender; `nil` for a service that has only a name.
    public let sender: BasicIdentity?
    /// The recipients that the viewer sees.
    public let recipients: VisibleRecipients

    /// An announcement to show.
    public init(
        _ announcement: Announcement, sender: BasicIdentity?, recipients: VisibleRecipients
    ) {
        self.announcement = announcement
        self.sender = sender
        self.recipients = recipients
    }

    /// Writes the object.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(announcement.id, in: .announcements))
            writer.member("url", presentation.links.announcement(announcement.id))
            switch recipients {
            case .all(let recipients):
                write(recipients, presentation, into: &writer)
            case .viewer(let user, let status):
                write(user, status, presentation, into: &writer)
            }
        }
    }

    private func write(
        _ recipients: [UserID], _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        writer.member("sent_at", TimestampJSON.text(announcement.sentAt))
        writer.key("recipients")
        writer.array { writer in
            for user in recipients {
                writer.string(UserIDJSON.text(user, presentation.version))
            }
        }
        writeSender(presentation, into: &writer)
        writeParts(into: &writer)
    }

    /// Writes a recipient's view: the members of a message, with `null` for those of a conversation.
    private func write(
        _ user: UserID, _ status: RecipientStatus, _ presentation: Presentation,
        into writer: inout JSONWriter
    ) {
        let isLatest = presentation.version == .v3_0
        writer.member(
            "receipts_url", "\(presentation.links.announcement(announcement.id))/receipts")
        writer.member("position", nil)
        writer.member("conversation", nil)
        writeParts(into: &writer)
        writer.member("sent_at", TimestampJSON.text(announcement.sentAt))
        // An announcement reaches every recipient when it is sent.
        writer.member("received_at", TimestampJSON.text(announcement.sentAt))
        writer.member("is_unread", status != .read)
        writeSender(presentation, into: &writer)
        writer.key("recipient_status")
        writer.object { writer in
            writer.key(UserIDJSON.text(user, presentation.version))
            writer.string(status.rawValue)
        }
        if isLatest {
            writer.member("channel", nil)
            writer.member("reply_to", nil)
        }
        writer.member("notification", nil)
        if isLatest { writer.member("updated_at", nil) }
    }

    /// Writes the sender. In 1.x only services are senders, so a user is shown as a service with the display name
    /// (client-api §3).
    private func writeSender(_ presentation: Presentation, into writer: inout JSONWriter) {
        let shown: Sender =
            if let user = announcement.sender.userID, !presentation.version.namesIdentities {
                .named(sender?.displayName ?? user.text)
            } else {
                announcement.sender
            }
        writer.key("sender")
        BasicIdentityJSON.write(
            sender: shown, sender, presentation.version, presentation.links, into: &writer)
    }

    /// Writes the parts. Their ids have the index in every version, because they cannot be requested alone.
    private func writeParts(into writer: inout JSONWriter) {
        let id = IdentifierJSON.text(announcement.id, in: .announcements)
        writer.key("parts")
        writer.array { writer in
            for part in announcement.parts {
                guard case .inline(let bytes) = part.body else { continue }
                writer.object { writer in
                    writer.member("id", "\(id)/parts/\(part.index)")
                    writer.member("mime_type", part.mimeType)
                    MessagePartJSON.write(bytes, into: &writer)
                }
            }
        }
    }
}

extension AnnouncementJSON {
    /// An announcement as the system sees it.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "Announcement",
            .object([
                .required("id", .identifier(.announcements)),
                .required("url", .url),
                .required("sent_at", .time),
                .required("recipients", .array(of: UserIDJSON.schema(version))),
                .required("sender", BasicIdentityJSON.senderSchema(version)),
                .required("parts", .array(of: part, 1...Message.partLimit)),
            ]))
    }

    /// An announcement as a recipient sees it.
    public static func userSchema(_ version: APIVersion) -> JSONSchema {
        var members: [JSONSchema.Member] = [
            .required("id", .identifier(.announcements)),
            .required("url", .url),
            .required("receipts_url", .url),
            .required("position", .null),
            .required("conversation", .null),
            .required("parts", .array(of: part, 1...Message.partLimit)),
            .required("sent_at", .time),
            .required("received_at", .time),
            .required("is_unread", .boolean),
            .required("sender", BasicIdentityJSON.senderSchema(version)),
            .required(
                "recipient_status",
                .object([], others: .choice(["sent", "delivered", "read"]))),
            .required("notification", .null),
        ]
        if version == .v3_0 {
            for name in ["channel", "reply_to", "updated_at"] {
                members.append(.required(name, .null))
            }
        }
        return .named("ReceivedAnnouncement", .object(members))
    }

    private static let part = JSONSchema.named(
        "AnnouncementPart",
        .object([
            .required("id", .string),
            .required("mime_type", .string),
            .required("body", .string),
            .required("encoding", JSONSchema.choice(["base64"]).orNull),
            .required("content", .null),
        ]))
}

extension AnnouncementJSON {
    /// Reads an announcement as a recipient sees it in version 3.0; `nil` if a member is missing or invalid.
    ///
    /// Its parts have no ids on the wire; each is read with the id of the announcement.
    public static func readResponse(_ object: JSONValue) -> AnnouncementJSON? {
        guard let id: Announcement.ID = IdentifierJSON.read(object["id"], in: .announcements),
            let sentAt = TimestampJSON.read(object["sent_at"]),
            let (sender, identity) = object["sender"].flatMap(BasicIdentityJSON.readSender),
            let parts = MessagePartJSON.readResponses(
                object["parts"], otherID: MessagePart.ID(id)),
            let statuses = object["recipient_status"],
            let (user, status) = statuses.members.first(where: { _ in true }),
            let viewer = UserIDJSON.read(identity: user),
            let received = status.string.flatMap(RecipientStatus.init(rawValue:))
        else { return nil }
        return AnnouncementJSON(
            Announcement(id: id, sender: sender, sentAt: sentAt, parts: parts), sender: identity,
            recipients: .viewer(viewer, received))
    }
}
