import Messaging

extension RecordImported: StoredEvent {
    func write(to writer: inout ByteWriter) {
        record.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws {
        self.init(record: try ArchiveRecord(from: &reader))
    }

    func apply(to rows: Projection) throws {
        try rows.bring(record)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        switch record {
        case .user(let moved): [.user(moved.user.id, application)]
        case .conversation(let moved): [.messages(moved.conversation.id, application)]
        // It may be placed before other messages and change the counts of all of them.
        case .message(let moved): [.messages(moved.message.conversation, application)]
        case .application, .relations, .content, .scheduled, .announcement, .key: []
        }
    }
}
