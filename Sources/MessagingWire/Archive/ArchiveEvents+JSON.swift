import JSON
import Messaging

extension RecordImported: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        JSONSchema.object([
            .required("record", .choice(ArchiveRecordKind.records.map(\.rawValue)))
        ])
        .withDescription("The imported line.")
    }

    var logSummary: String {
        "imported \(record.logName)"
    }

    func subject(in links: LinkBuilder) -> String {
        switch record {
        case .user(let moved): UserIDJSON.text(identity: moved.user.id)
        case .relations(let moved): UserIDJSON.text(identity: moved.user)
        case .conversation(let moved):
            IdentifierJSON.text(moved.conversation.id, in: .conversations)
        case .message(let moved): IdentifierJSON.text(moved.message.id, in: .messages)
        case .scheduled(let moved): IdentifierJSON.text(moved.message.id, in: .messages)
        case .content(let moved): IdentifierJSON.text(moved.content.id, in: .content)
        case .announcement(let moved):
            IdentifierJSON.text(moved.announcement.id, in: .announcements)
        // A replay key has no id of its own.
        case .key, .application: links.applicationID
        }
    }

    func writeData(
        sender: BasicIdentity?, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        ArchiveLineJSON.write(record, into: &writer)
    }
}

extension ArchiveRecord {
    /// The record as log lines name it.
    fileprivate var logName: String {
        switch self {
        case .application(let application):
            "the name \(EventLogLine.printable(application.name))"
        case .user(let moved): EventLogLine.user(moved.user.id)
        case .relations(let moved): "the relations of \(EventLogLine.user(moved.user))"
        case .conversation(let moved): "conversation \(moved.conversation.id)"
        case .message(let moved): "message \(moved.message.id)"
        case .scheduled(let moved): "scheduled message \(moved.message.id)"
        case .content(let moved): "content \(moved.content.id)"
        case .announcement(let moved): "announcement \(moved.announcement.id)"
        case .key(let moved): "key \(moved.key)"
        }
    }
}
