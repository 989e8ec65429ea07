import JSON
import Messaging

extension MessageSent: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        .anyOf([MessageJSON.schema(.v3_0), .object([])])
    }

    var logSummary: String {
        "created a message in conversation \(message.conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message.id, in: .messages)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: message.id, in: message.conversation, links)
    }
}

extension MessageScheduled: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "scheduled message \(message.id) in conversation \(message.conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message.id, in: .messages)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: message.id, in: message.conversation, links)
        writer.member("due_at", TimestampJSON.text(message.dueAt))
    }
}

extension ScheduleEnded: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "\(isSent ? "sent" : "dropped") scheduled message \(message)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message, in: .messages)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("sent", isSent)
    }
}

extension BatchAccepted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "accepted a batch of messages in conversation \(conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }
}

extension PartsChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        .anyOf([MessageJSON.schema(.v3_0), .object([])])
    }

    var logSummary: String {
        "created \(created.count), updated \(updated.count) and deleted \(removed.count) parts of "
            + "message \(message) in conversation \(conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message, in: .messages)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: message, in: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        let id = IdentifierJSON.text(message, in: .messages)
        let lists: [(StaticString, [MessagePart.ID])] = [
            ("created", created.map(\.id)), ("updated", updated.map(\.id)),
            ("deleted", removed.map(\.id)),
        ]
        writer.key("parts")
        writer.object { writer in
            for (name, parts) in lists {
                writer.key(name)
                writer.array { writer in
                    for part in parts { writer.string("\(id)/parts/\(part)") }
                }
            }
        }
    }
}

extension ReceiptsRecorded: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        let verb = kind == .read ? "read" : "received"
        let last = Position(positions.intervals.last?.upperBound ?? 0)
        return "\(verb) messages up to position \(PositionJSON.number(last)) in conversation "
            + "\(conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        // The state of one participant over many messages changes, so the conversation is the subject.
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.recipientStatus(of: user, kind)
        // Intervals include both ends.
        writer.key("positions")
        writer.array { writer in
            for interval in positions.intervals {
                writer.object { writer in
                    writer.key("from")
                    PositionJSON.write(Position(interval.lowerBound), into: &writer)
                    writer.key("to")
                    PositionJSON.write(Position(interval.upperBound), into: &writer)
                }
            }
        }
    }
}

extension MessageHidden: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "deleted message \(message) in conversation \(conversation) from their own view"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message, in: .messages)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: message, in: conversation, links)
        writer.key("position")
        PositionJSON.write(position, into: &writer)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.users("hidden_from", [user])
    }
}

extension MessageDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "deleted message \(message.id) in conversation \(message.conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(message.id, in: .messages)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: message.id, in: message.conversation, links)
        writer.key("position")
        PositionJSON.write(message.position, into: &writer)
    }
}
