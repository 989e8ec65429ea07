internal import JSON
internal import Messaging
internal import MessagingStore
internal import MessagingWire

/// `export.json`: `{"conversations":[…],"messages":[…]}`, or `{"events":[…]}` (platform-api §5.12).
struct ExportDocument {
    private let task: ExportTask
    private let store: MessagingStore
    private let presentation: Presentation
    private let moment: Timestamp

    /// Rows read at once: a message holds up to 1 MB, most hold a thousandth of it.
    private static let batchSize = 32

    /// Creates a document.
    ///
    /// - Parameter moment: Later objects are left out, so that the export ends.
    init(
        _ task: ExportTask, store: MessagingStore, _ presentation: Presentation,
        until moment: Timestamp
    ) {
        self.task = task
        self.store = store
        self.presentation = presentation
        self.moment = moment
    }

    /// Writes the document in batches, on the caller's executor.
    nonisolated(nonsending) func write(to file: inout ExportFileWriter) async throws {
        switch task.export.scope {
        case .historical:
            try file.append(Array(#"{"conversations":["#.utf8))
            try await writeConversations(to: &file)
            try file.append(Array(#"],"messages":["#.utf8))
            try await writeMessages(to: &file)
        case .scheduled(let period):
            try file.append(Array(#"{"events":["#.utf8))
            try await write(period, to: &file)
        }
        try file.append(Array("]}".utf8))
        try file.flush()
    }

    private nonisolated(nonsending) func writeConversations(
        to file: inout ExportFileWriter
    ) async throws {
        var list = ExportList()
        var last: Conversation.ID?
        while true {
            try Task.checkCancellation()
            let found = try await store.conversations(
                after: last, createdUntil: moment, limit: Self.batchSize, in: task.application)
            for conversation in found {
                var writer = JSONWriter(capacity: 1024)
                ConversationJSON(conversation).write(presentation, into: &writer)
                try list.append(writer.finish(), to: &file)
            }
            guard found.count == Self.batchSize else { return }
            last = found.last?.conversation.id
        }
    }

    private nonisolated(nonsending) func writeMessages(to file: inout ExportFileWriter) async throws
    {
        var list = ExportList()
        var last: Message?
        var messages = MessageWriter(presentation)
        while true {
            try Task.checkCancellation()
            let found = try await store.messages(
                after: last, sentUntil: moment, limit: Self.batchSize, in: task.application)
            for message in found {
                var writer = JSONWriter(capacity: 2048)
                messages.write(MessageJSON(message), into: &writer)
                try list.append(writer.finish(), to: &file)
            }
            guard found.count == Self.batchSize else { return }
            last = found.last?.message
        }
    }

    // MARK: - Events

    private nonisolated(nonsending) func write(
        _ period: Export.Period, to file: inout ExportFileWriter
    ) async throws {
        var list = ExportList()
        var checkpoint = WebhookCheckpoint(after: period.after)
        while checkpoint.after < period.through {
            try Task.checkCancellation()
            let page = try await store.webhookEvents(
                after: checkpoint, through: period.through, to: [.v1_0: Set(period.topics)],
                limit: Self.batchSize, in: task.application)
            for event in page.events {
                var writer = JSONWriter(capacity: 2048)
                WebhookEventJSON.write(event, presentation, into: &writer)
                try list.append(writer.finish(), to: &file)
            }
            checkpoint = page.next
        }
    }
}

/// Writes the commas between elements.
private struct ExportList {
    private var isEmpty = true

    mutating func append(_ json: [UInt8], to file: inout ExportFileWriter) throws {
        if !isEmpty { try file.append([UInt8(ascii: ",")]) }
        isEmpty = false
        try file.append(json)
    }
}
