public import Messaging
public import MessagingStore
internal import MessagingWire
internal import Uploads

/// Imports the lines of an export into a store, a few per transaction, so that other writers are
/// not blocked (X10). Lines are read while those before them are written.
public struct Importer {
    private let store: MessagingStore
    private let contents: ImportedContents
    /// The only application that is accepted; `nil` for any.
    private let only: Application.ID?

    private var application: Application.ID?
    private var waiting = Batch()
    /// The transaction under way, and the steps in it.
    private var running: (batch: Batch, outcomes: Task<BatchOutcomes, any Error>)?
    /// The conversation whose messages are being read.
    private var open: Conversation.ID?
    /// The last conversation record.
    private var conversation: ArchivedConversation?
    /// An imported conversation that may have messages which are not in order yet.
    private var unsettled: Conversation.ID?
    /// Contents that were published for waiting records, by id, with their digest.
    private var published = PublishedContents()
    /// Those that were published for the records of the transaction under way.
    private var publishedBefore = PublishedContents()
    /// A content that is already stored, so that its bytes are skipped.
    private var known: Content.ID?
    /// What has been imported so far.
    public private(set) var summary = ImportSummary()

    /// The steps of one transaction.
    private struct Batch {
        var steps: [(line: Int, step: ImportStep)] = []
        /// The number of bytes of their lines.
        var weight = 0
    }

    private struct PublishedContents {
        var digests: [Content.ID: [UInt8]] = [:]
        var bytes: Int64 = 0
    }

    /// The outcomes of the steps of a transaction, and its time.
    private typealias BatchOutcomes = (outcomes: [ImportOutcome], time: TransactionTime)

    /// The number of steps that start a transaction. Large transactions write each page of an index less often.
    private var stepsAtOnce = BatchSize(256, in: 64...1024, taking: .milliseconds(30))
    /// Bytes of lines after which a transaction is committed.
    static let bytesAtOnce = 1 << 20

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - contents: Receives the bytes of contents.
    ///   - only: The only application that is accepted; `nil` for any, which is created if missing.
    public init(
        _ store: MessagingStore, _ contents: ImportedContents, only: Application.ID? = nil
    ) {
        self.store = store
        self.contents = contents
        self.only = only
    }

    /// Imports the next line.
    ///
    /// - Throws: ``ImportError``; the lines before it are durable then.
    public nonisolated(nonsending) mutating func add(
        _ bytes: [UInt8], line: Int
    ) async throws {
        do {
            switch try ArchiveLineJSON.read(bytes, store.limits) {
            case .application(let application): try await add(application)
            case .bytes(let piece): try await add(piece)
            case .record(let record): try await add(record, line: line)
            }
        } catch let error as ArchiveLineError {
            try await stop()
            throw ImportError(error, line: line)
        }
        waiting.weight += bytes.count
        if waiting.steps.count >= stepsAtOnce.count || waiting.weight >= Self.bytesAtOnce {
            try await flush()
        }
        summary.lines = line
    }

    /// Finishes the last conversation and waits until everything is durable.
    public nonisolated(nonsending) mutating func finish() async throws {
        guard application != nil else {
            throw ImportError(ArchiveLineError(nil, "there is no application"), line: 1)
        }
        settle(line: summary.lines)
        try await flush()
        try await wait()
        guard contents.isEmpty else {
            throw ImportError(
                ArchiveLineError(nil, "no later record names the content of these bytes"),
                line: summary.lines)
        }
    }

    /// Ends early: imports the waiting records, whose contents are already published, and orders
    /// the messages of the last conversation.
    public nonisolated(nonsending) mutating func stop() async throws {
        try await flush()
        try await wait()
        guard let unsettled else { return }
        waiting.steps = [(summary.lines, .sort(unsettled))]
        try await flush()
        try await wait()
    }

    private nonisolated(nonsending) mutating func add(_ application: Application) async throws {
        guard self.application == nil else {
            throw ArchiveLineError("record", "must be application on the first line only")
        }
        guard only == nil || only == application.id else {
            throw ArchiveLineError("id", "is that of another application")
        }
        self.application = application.id
        let outcome = try await store.importApplication(application)
        summary.count(.application, isNew: outcome == .imported)
    }

    private nonisolated(nonsending) mutating func add(_ piece: ArchivedBytes) async throws {
        let application = try begun()
        if piece.offset == 0 {
            let digest = try await digest(of: piece.content, in: application)
            known = digest == nil ? nil : piece.content
        }
        if piece.content != known { try contents.add(piece) }
    }

    private nonisolated(nonsending) mutating func add(
        _ record: ArchiveRecord, line: Int
    ) async throws {
        let application = try begun()
        for content in record.contents {
            guard try await require(content.content, of: application) else { continue }
            // If the record is rejected, the content is unused and will be cleaned up.
            if record.kind != .content { waiting.steps.append((line, .content(content))) }
        }
        guard contents.isEmpty else {
            throw ArchiveLineError("contents", "must name the content whose bytes stand before it")
        }
        switch record {
        case .message(let archived) where archived.message.conversation == open: break
        case .message(let archived):
            settle(line: line)
            open = archived.message.conversation
        case .conversation(let archived):
            settle(line: line)
            open = archived.conversation.id
            conversation = archived
        default: settle(line: line)
        }
        let isOpen = conversation?.conversation.id == open
        waiting.steps.append(
            (line, .prepared(PreparedRecord(record), of: isOpen ? conversation : nil)))
    }

    private func begun() throws(ArchiveLineError) -> Application.ID {
        guard let application else {
            throw ArchiveLineError("record", "must be application on the first line")
        }
        return application
    }

    private mutating func settle(line: Int) {
        if let open { waiting.steps.append((line, .sort(open))) }
        open = nil
    }

    /// Publishes a content before anything refers to it.
    ///
    /// - Returns: Whether it was published now.
    private nonisolated(nonsending) mutating func require(
        _ content: Content, of application: Application.ID
    ) async throws -> Bool {
        if let known = try await digest(of: content.id, in: application) {
            guard known == content.sha256 else {
                throw ArchiveLineError(
                    "contents.sha256", "differs from that of the content with this id here")
            }
            return false
        }
        // Contents of all applications share one folder.
        guard try await store.signedContent(content.id) == nil else {
            throw ArchiveLineError("contents.id", "is that of a content of another application")
        }
        let file = StoredFile(content, of: application)
        do {
            try await contents.publish(file, besides: published.bytes + publishedBefore.bytes)
        } catch UploadError.quotaExceeded where publishedBefore.bytes > 0 {
            // If the transaction under way is durable meanwhile, its contents were counted twice.
            try await wait()
            try await contents.publish(file, besides: published.bytes)
        }
        published.digests[content.id] = content.sha256
        published.bytes += content.size
        return true
    }

    private nonisolated(nonsending) mutating func digest(
        of content: Content.ID, in application: Application.ID
    ) async throws -> [UInt8]? {
        // Contents of the transaction under way count as stored.
        if let digest = published.digests[content] ?? publishedBefore.digests[content] {
            return digest
        }
        return try await store.digest(ofContent: content, in: application)
    }

    /// Starts to import the waiting steps when those before them are durable.
    private nonisolated(nonsending) mutating func flush() async throws {
        try await wait()
        guard let application, !waiting.steps.isEmpty else { return }
        start(waiting, in: application)
        waiting = Batch()
        (published, publishedBefore) = (PublishedContents(), published)
    }

    private mutating func start(_ batch: Batch, in application: Application.ID) {
        let steps = batch.steps.map(\.step)
        running = (
            batch,
            Task { [store] in try await store.importRecords(steps, in: application) }
        )
    }

    /// Waits until the transaction under way is durable.
    ///
    /// - Throws: ``ImportError`` for a rejected step; the steps before it are durable then. After any error, later steps
    ///   are not imported.
    private nonisolated(nonsending) mutating func wait() async throws {
        guard let application, let (batch, outcomes) = running else { return }
        running = nil
        do {
            let (outcomes, time) = try await outcomes.value
            publishedBefore = PublishedContents()
            count(batch, outcomes)
            stepsAtOnce.adjust(to: time, for: batch.steps.count)
        } catch let rejected as RejectedImportStep {
            // Contents of later lines are already published: they are unused and will be cleaned up.
            let later = (batch.steps[rejected.step...] + waiting.steps).filter { _, step in
                if case .content = step { true } else { false }
            }
            waiting = Batch()
            start(Batch(steps: Array(batch.steps[..<rejected.step] + later)), in: application)
            try await stop()
            throw ImportError(rejected.lineError, line: batch.steps[rejected.step].line)
        } catch {
            waiting = Batch()
            throw error
        }
    }

    private mutating func count(_ batch: Batch, _ outcomes: [ImportOutcome]) {
        for ((_, step), outcome) in zip(batch.steps, outcomes) {
            switch step {
            case .prepared(let prepared, _):
                summary.count(prepared.record.kind, isNew: outcome != .present)
                if outcome == .merged { summary.countMerged() }
                unsettled = prepared.record.conversation ?? unsettled
            case .content: break
            case .sort:
                if outcome != .present { summary.noteOrder() }
                unsettled = nil
            }
        }
    }
}

extension ArchiveRecord {
    /// The conversation that the record starts or belongs to.
    fileprivate var conversation: Conversation.ID? {
        switch self {
        case .conversation(let archived): archived.conversation.id
        case .message(let archived): archived.message.conversation
        default: nil
        }
    }
}
