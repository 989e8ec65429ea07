public import JSON
public import Messaging

/// Body and answer of `…/export_schedule` (platform-api §5.12).
public enum ExportScheduleJSON {
    /// Reads `interval`, then `events`: names of version 1.0, at least one for daily exports.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (interval: ExportSchedule.Interval, topics: [Topic]) {
        guard let value = body.present("interval") else { throw .missing("interval") }
        guard let interval = value.string.flatMap(ExportSchedule.Interval.init) else {
            throw .invalid("interval", .exportInterval)
        }
        guard let events = body.present("events") else {
            guard interval == .disabled else { throw .missing("events") }
            return (interval, [])
        }
        guard events.kind == .array, interval == .disabled || events.count > 0 else {
            throw .invalid("events", .exportEvents)
        }
        var topics: [Topic] = []
        for event in events.elements {
            guard let name = event.string else { throw .invalid("events", .exportEvents) }
            guard let topic = TopicJSON.read(name, .v1_0) else {
                let known = TopicJSON.names(.v1_0).joined(separator: ", ")
                throw .invalid("events", .exportEventName, .init(path: known, text: name))
            }
            if !topics.contains(topic) { topics.append(topic) }
        }
        return (interval, topics)
    }

    /// Writes the object; moments and the id that are not known are `null`.
    public static func write(_ schedule: ExportSchedule, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("interval", schedule.interval.rawValue)
            writer.key("events")
            writer.array { writer in
                for topic in schedule.topics { writer.string(TopicJSON.text(topic, .v1_0)) }
            }
            writer.member("last_export_at", schedule.lastAt.map(TimestampJSON.text))
            writer.member(
                "last_export_id", schedule.last.map { IdentifierJSON.text($0, in: .exports) })
            writer.member("next_export_at", schedule.nextAt.map(TimestampJSON.text))
        }
    }
}
