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

    /// Rows that are read at once: messages hold at most a megabyte each, and most a thousandth of it.
    private static let stretch = 32

    /// A document to write.
    ///
    /// - Parameter moment: What was made later is left out, so that the end is reached.
    init(
        _ task: ExportTask, store: MessagingStore, _ presentation: Presentation,
        until moment: Timestamp
    ) {
        self.task = task
        self.store = store
        self.presentation = presentation
        self.moment = moment
    }

    /// Writes it a stretch at a time, on whatever executor the caller has.
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
                after: last, createdUntil: moment, limit: Self.stretch, in: task.application)
            for conversation in found {
                var writer = JSONWriter(capacity: 1024)
                ConversationJSON(conversation).write(presentation, into: &writer)
                try list.append(writer.finish(), to: &file)
            }
            guard found.count == Self.stretch else { return }
            last = found.last?.conversation.id
        }
    }

    private nonisolated(nonsending) func writeMessages(to file: inout ExportFileWriter) async throws
    {
        var list = ExportList()
        var last: Message?
        while true {
            try Task.checkCancellation()
            let found = try await store.messages(
                after: last, sentUntil: moment, limit: Self.stretch, in: task.application)
            for message in found {
                var writer = JSONWriter(capacity: 2048)
                MessageJSON(message).write(presentation, into: &writer)
                try list.append(writer.finish(), to: &file)
            }
            guard found.count == Self.stretch else { return }
            last = found.last?.message
        }
    }

    // MARK: - What happened

    private nonisolated(nonsending) func write(
        _ period: Export.Period, to file: inout ExportFileWriter
    ) async throws {
        var list = ExportList()
        var place = WebhookCheckpoint(after: period.after)
        while place.after < period.through {
            try Task.checkCancellation()
            let stretch = try await store.webhookEvents(
                after: place, through: period.through, to: [.v1_0: Set(period.topics)],
                limit: Self.stretch, in: task.application)
            for event in stretch.events {
                var writer = JSONWriter(capacity: 2048)
                WebhookEventJSON(event).write(presentation, into: &writer)
                try list.append(writer.finish(), to: &file)
            }
            place = stretch.next
        }
    }
}

/// The commas between elements that are written one by one.
private struct ExportList {
    private var isEmpty = true

    mutating func append(_ json: [UInt8], to file: inout ExportFileWriter) throws {
        if !isEmpty { try file.append([UInt8(ascii: ",")]) }
        isEmpty = false
        try file.append(json)
    }
}
