import Messaging
import MessagingStore
import MessagingWire

/// Brings the lines of an export into a store, a few to a transaction (X10).
struct Importer {
    private let store: MessagingStore
    /// Brings the bytes of a content that is not there yet; `nil` where there are none to bring.
    private let bringBytes: ((KeptFile) async throws -> Void)?
    /// Told how many lines are durable.
    private let progress: (Int) -> Void

    private var application: Application.ID?
    private var waiting: [(line: Int, step: ImportStep)] = []
    private var weight = 0
    /// Whose messages come just now.
    private var open: Conversation.ID?
    private(set) var tally = ImportTally()

    private static let stepsAtOnce = 64
    private static let octetsAtOnce = 1 << 20

    init(
        _ store: MessagingStore, bringing bringBytes: ((KeptFile) async throws -> Void)?,
        progress: @escaping (Int) -> Void = { _ in }
    ) {
        self.store = store
        self.bringBytes = bringBytes
        self.progress = progress
    }

    /// Takes the next line.
    ///
    /// - Throws: ``StartFailure`` with its number, the member at fault and the rule; what stood on the
    ///   lines before it is durable then, and nothing of it is kept.
    mutating func take(_ octets: [UInt8], line: Int) async throws {
        do {
            switch try MovedLineJSON.read(octets) {
            case .application(let application): try await take(application)
            case .record(let record): try await take(record, line: line)
            }
        } catch let mistake as MovedMistake {
            try await flush()
            throw StartFailure(mistake, line: line)
        }
        weight += octets.count
        guard waiting.count >= Self.stepsAtOnce || weight >= Self.octetsAtOnce else { return }
        try await flush()
        progress(line)
    }

    /// Ends the last conversation, and waits until all is durable.
    mutating func finish(line: Int) async throws {
        guard application != nil else { throw StartFailure("line 1: there is no application") }
        settle(line: line)
        try await flush()
        progress(line)
    }

    private mutating func take(_ application: Application) async throws {
        guard self.application == nil else {
            throw MovedMistake("record", "must be application on the first line only")
        }
        self.application = application.id
        tally.count(try await store.bringApplication(application), of: "applications")
    }

    private mutating func take(_ record: MovedRecord, line: Int) async throws {
        guard let application else {
            throw MovedMistake("record", "must be application on the first line")
        }
        for content in record.contents { try await require(content.content, of: application) }
        switch record {
        case .message(let moved) where moved.message.conversation == open: break
        case .message(let moved):
            settle(line: line)
            open = moved.message.conversation
        case .conversation(let moved):
            settle(line: line)
            open = moved.conversation.id
        default: settle(line: line)
        }
        waiting.append((line, .record(record)))
    }

    private mutating func settle(line: Int) {
        if let open { waiting.append((line, .settle(open))) }
        open = nil
    }

    /// Bytes come before whatever refers to them.
    private func require(_ content: Content, of application: Application.ID) async throws {
        if let known = try await store.digest(ofContent: content.id, in: application) {
            guard known == content.sha256 else {
                throw MovedMistake("contents.sha256", "is not that of the content of this id here")
            }
            return
        }
        guard let bringBytes else {
            throw MovedMistake(
                "contents.id", "is \(content.id), whose bytes are not here: say --contents DIR")
        }
        do {
            try await bringBytes(KeptFile(content, of: application))
        } catch let failure as StartFailure {
            throw MovedMistake("contents.id", "cannot be brought: \(failure)")
        }
    }

    private mutating func flush() async throws {
        guard let application, !waiting.isEmpty else { return }
        let steps = waiting
        waiting = []
        weight = 0
        do {
            try await bring(steps[...], in: application)
        } catch let refusal as ImportRefusal {
            try await bring(steps[..<refusal.step], in: application)
            throw StartFailure(refusal.mistake, line: steps[refusal.step].line)
        }
    }

    private mutating func bring(
        _ steps: ArraySlice<(line: Int, step: ImportStep)>, in application: Application.ID
    ) async throws {
        let outcomes = try await store.bring(steps.map(\.step), in: application)
        for ((_, step), outcome) in zip(steps, outcomes) {
            switch step {
            case .record(let record): tally.count(outcome, of: record.plural)
            case .settle: tally.countSettled(outcome)
            }
        }
    }
}

extension StartFailure {
    fileprivate init(_ mistake: MovedMistake, line: Int) {
        self.init(
            "line \(line): \(mistake.field.map { field in "\(field) " } ?? "")\(mistake.rule)")
    }
}

extension MovedRecord {
    /// The contents whose bytes it needs.
    var contents: [MovedContent] {
        switch self {
        case .message(let moved): moved.contents
        case .scheduled(let moved): moved.contents
        case .content(let moved): [moved]
        case .user, .relations, .conversation, .announcement, .key: []
        }
    }

    /// What many of them are called.
    fileprivate var plural: String {
        switch self {
        case .user: "users"
        case .relations: "relations"
        case .conversation: "conversations"
        case .message: "messages"
        case .content: "contents"
        case .scheduled: "scheduled messages"
        case .announcement: "announcements"
        case .key: "keys"
        }
    }
}
