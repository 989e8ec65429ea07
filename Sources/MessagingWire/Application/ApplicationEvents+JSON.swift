import JSON
import Messaging

extension ApplicationCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "created application \(application.id), \(EventLogLine.printable(application.name))"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", links.applicationID)
        writer.member("name", application.name)
        writer.member("created_at", TimestampJSON.text(application.createdAt))
    }
}

extension ApplicationRenamed: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "renamed application \(application) to \(EventLogLine.printable(name))"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("name", name)
    }
}

extension ApplicationSuspended: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        isSuspended ? "suspended application \(application)" : "resumed application \(application)"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("suspended", isSuspended)
    }
}

extension TokenCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "created token \(token.id) with scope \(token.scope.rawValue)"
    }

    func subject(in links: LinkBuilder) -> String {
        "\(links.applicationID)/tokens/\(token.id)"
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("name", token.name)
        writer.member("scope", token.scope.rawValue)
        writer.member("created_at", TimestampJSON.text(token.createdAt))
        writer.member("expires_at", token.expiresAt.map(TimestampJSON.text))
    }
}

extension TokenRevoked: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "revoked token \(token)"
    }

    func subject(in links: LinkBuilder) -> String {
        "\(links.applicationID)/tokens/\(token)"
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("revoked_at", TimestampJSON.text(at))
    }
}

extension SessionLifetimeSet: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "set the lifetime of new sessions to \(seconds) seconds"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("session_ttl_in_seconds", seconds)
    }
}
