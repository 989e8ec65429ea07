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
        case .user(let archived): UserIDJSON.text(identity: archived.user.id)
        case .relations(let archived): UserIDJSON.text(identity: archived.user)
        case .conversation(let archived):
            IdentifierJSON.text(archived.conversation.id, in: .conversations)
        case .message(let archived): IdentifierJSON.text(archived.message.id, in: .messages)
        case .scheduled(let archived): IdentifierJSON.text(archived.message.id, in: .messages)
        case .content(let archived): IdentifierJSON.text(archived.content.id, in: .content)
        case .announcement(let archived):
            IdentifierJSON.text(archived.announcement.id, in: .announcements)
        // A replay key has no id.
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
        case .user(let archived): EventLogLine.user(archived.user.id)
        case .relations(let archived): "the relations of \(EventLogLine.user(archived.user))"
        case .conversation(let archived): "conversation \(archived.conversation.id)"
        case .message(let archived): "message \(archived.message.id)"
        case .scheduled(let archived): "scheduled message \(archived.message.id)"
        case .content(let archived): "content \(archived.content.id)"
        case .announcement(let archived): "announcement \(archived.announcement.id)"
        case .key(let archived): "key \(archived.key)"
        }
    }
}
