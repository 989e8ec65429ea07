import JSON
import Messaging

extension SessionCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "began session \(session.id) of \(EventLogLine.user(session.user))"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(session.id, in: .sessions)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("user_id", session.user.text)
        writer.member("created_at", TimestampJSON.text(session.createdAt))
        writer.member("expires_at", TimestampJSON.text(session.expiresAt))
        writer.member("user_agent", session.userAgent)
    }
}

extension SessionEnded: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "ended session \(session) of \(EventLogLine.user(user))"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(session, in: .sessions)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("user_id", user.text)
    }
}
