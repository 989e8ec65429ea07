import JSON
import Messaging

extension AnnouncementSent: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        AnnouncementJSON.schema(.v3_0)
    }

    var logSummary: String {
        "sent announcement \(announcement.id) to \(EventLogLine.count(recipients.count, "user"))"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(announcement.id, in: .announcements)
    }

    func writeData(
        sender: BasicIdentity?, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        AnnouncementJSON(
            announcement, sender: sender, recipients: .all(recipients)
        ).write(presentation, into: &writer)
    }
}

extension AnnouncementReceived: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "\(kind == .read ? "read" : "received") announcement \(announcement)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(announcement, in: .announcements)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.recipientStatus(of: user, kind)
    }
}

extension AnnouncementDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "deleted announcement \(announcement) from their own view"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(announcement, in: .announcements)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.users("hidden_from", [user])
    }
}

extension NotificationSent: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .push }

    static var dataSchema: JSONSchema {
        .object([
            .required("recipients", .array(of: UserIDJSON.identitySchema)),
            .required("notification", .object([])),
        ])
    }

    var logSummary: String {
        "notified \(EventLogLine.count(recipients.count, "user"))"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.users("recipients", recipients)
        writer.member("notification", raw: notification)
    }
}
