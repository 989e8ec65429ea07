import JSON
import Messaging

extension ExportKeyChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "set the key of exports"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }
}

extension ExportScheduleChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "set the schedule of exports to \(schedule.interval.rawValue)"
    }

    func subject(in links: LinkBuilder) -> String {
        links.applicationID
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("interval", schedule.interval.rawValue)
        writer.key("events")
        writer.array { writer in
            for topic in schedule.topics { writer.string(WebhookTopicJSON.text(topic, .v1_0)) }
        }
    }
}

extension ExportRequested: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "requested export \(export.id)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(export.id, in: .exports)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("created_at", TimestampJSON.text(export.createdAt))
        writer.member("status_url", links.status(of: export.id))
    }
}

extension ExportStarted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "started export \(export)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(export, in: .exports)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("status_url", links.status(of: export))
    }
}

extension ExportCompleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "completed export \(export), \(archive.size) bytes"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(export, in: .exports)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("status_url", links.status(of: export))
    }
}

extension ExportDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "deleted export \(export)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(export, in: .exports)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("status_url", links.status(of: export))
    }
}

extension ExportExpired: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "expired export \(export)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(export, in: .exports)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("status_url", links.status(of: export))
    }
}

extension ExportErased: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .export }

    var logSummary: String {
        "erased the archive of export \(export)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(export, in: .exports)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("status_url", links.status(of: export))
    }
}
