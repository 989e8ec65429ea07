public import Messaging
public import MessagingStore
internal import MessagingWire

/// Brings the lines of an export into a store, a few to a transaction, so that others write between
/// them (X10).
public struct Importer {
    private let store: MessagingStore
    private let contents: ArrivingContents
    /// The only application that may come; `nil` for any.
    private let only: Application.ID?

    private var application: Application.ID?
    private var waiting: [(line: Int, step: ImportStep)] = []
    private var weight = 0
    /// Whose messages come just now.
    private var open: Conversation.ID?
    /// The record of a conversation that came last.
    private var conversation: MovedConversation?
    /// What has been brought and may have messages that are not in order yet.
    private var unsettled: Conversation.ID?
    /// Contents whose bytes were brought for records that wait, and how many bytes these are.
    private var brought: [Content.ID: [UInt8]] = [:]
    private var broughtBytes: Int64 = 0
    /// A content whose bytes come though they are here.
    private var known: Content.ID?
    /// What has come so far.
    public private(set) var tally = ImportTally()

    /// Records of one transaction at most.
    static let stepsAtOnce = 64
    /// Octets of their lines, once there are so many.
    static let octetsAtOnce = 1 << 20

    /// Nothing is brought before ``take(_:line:)``.
    ///
    /// - Parameters:
    ///   - contents: Where bytes of contents go.
    ///   - only: The application that may come; `nil` for any, which is made where it is missing.
    public init(
        _ store: MessagingStore, _ contents: ArrivingContents, only: Application.ID? = nil
    ) {
        self.store = store
        self.contents = contents
        self.only = only
    }

    /// Takes the next line.
    ///
    /// - Throws: ``ImportMistake``; what stood on the lines before it is durable then.
    public nonisolated(nonsending) mutating func take(
        _ octets: [UInt8], line: Int
    ) async throws {
        do {
            switch try MovedLineJSON.read(octets, store.limits) {
            case .application(let application): try await take(application)
            case .bytes(let piece): try await take(piece)
            case .record(let record): try await take(record, line: line)
            }
        } catch let mistake as MovedMistake {
            try await stop()
            throw ImportMistake(mistake, line: line)
        }
        weight += octets.count
        if waiting.count >= Self.stepsAtOnce || weight >= Self.octetsAtOnce { try await flush() }
        tally.lines = line
    }

    /// Ends the last conversation, and waits until all is durable.
    public nonisolated(nonsending) mutating func finish() async throws {
        guard application != nil else {
            throw ImportMistake(MovedMistake(nil, "there is no application"), line: 1)
        }
        settle(line: tally.lines)
        try await flush()
        guard contents.isEmpty else {
            throw ImportMistake(
                MovedMistake(nil, "no record behind it names the content of these bytes"),
                line: tally.lines)
        }
    }

    /// Ends it in the midst: brings what still waits, whose contents are published already, and puts the
    /// messages of the last conversation in order.
    public nonisolated(nonsending) mutating func stop() async throws {
        try await flush()
        guard let unsettled, let application else { return }
        try await bring([(tally.lines, .settle(unsettled))], in: application)
    }

    private nonisolated(nonsending) mutating func take(_ application: Application) async throws {
        guard self.application == nil else {
            throw MovedMistake("record", "must be application on the first line only")
        }
        guard only == nil || only == application.id else {
            throw MovedMistake("id", "is that of another application")
        }
        self.application = application.id
        let outcome = try await store.bringApplication(application)
        tally.count(.application, isNew: outcome == .brought)
    }

    private nonisolated(nonsending) mutating func take(_ piece: MovedBytes) async throws {
        let application = try begun()
        if piece.place == 0 {
            let digest = try await digest(of: piece.content, in: application)
            known = digest == nil ? nil : piece.content
        }
        if piece.content != known { try contents.take(piece) }
    }

    private nonisolated(nonsending) mutating func take(
        _ record: MovedRecord, line: Int
    ) async throws {
        let application = try begun()
        for content in record.contents {
            guard try await require(content.content, of: application) else { continue }
            // Should the record be refused, the content is one that nobody needs, and is cleaned up.
            if record.kind != .content { waiting.append((line, .content(content))) }
        }
        guard contents.isEmpty else {
            throw MovedMistake("contents", "must name the content whose bytes stand before it")
        }
        switch record {
        case .message(let moved) where moved.message.conversation == open: break
        case .message(let moved):
            settle(line: line)
            open = moved.message.conversation
        case .conversation(let moved):
            settle(line: line)
            open = moved.conversation.id
            conversation = moved
        default: settle(line: line)
        }
        let isOpen = conversation?.conversation.id == open
        waiting.append((line, .record(record, of: isOpen ? conversation : nil)))
    }

    private func begun() throws(MovedMistake) -> Application.ID {
        guard let application else {
            throw MovedMistake("record", "must be application on the first line")
        }
        return application
    }

    private mutating func settle(line: Int) {
        if let open { waiting.append((line, .settle(open))) }
        open = nil
    }

    /// Bytes come before whatever refers to them.
    ///
    /// - Returns: Whether they have come now.
    private nonisolated(nonsending) mutating func require(
        _ content: Content, of application: Application.ID
    ) async throws -> Bool {
        if let known = try await digest(of: content.id, in: application) {
            guard known == content.sha256 else {
                throw MovedMistake("contents.sha256", "is not that of the content of this id here")
            }
            return false
        }
        // Contents of all applications lie side by side.
        guard try await store.signedContent(content.id) == nil else {
            throw MovedMistake("contents.id", "is that of a content of another application")
        }
        try await contents.bring(KeptFile(content, of: application), besides: broughtBytes)
        brought[content.id] = content.sha256
        broughtBytes += content.size
        return true
    }

    private nonisolated(nonsending) func digest(
        of content: Content.ID, in application: Application.ID
    ) async throws -> [UInt8]? {
        if let digest = brought[content] { return digest }
        return try await store.digest(ofContent: content, in: application)
    }

    private nonisolated(nonsending) mutating func flush() async throws {
        guard let application, !waiting.isEmpty else { return }
        let steps = waiting
        waiting = []
        brought = [:]
        broughtBytes = 0
        weight = 0
        do {
            try await bring(steps[...], in: application)
        } catch let refusal as ImportRefusal {
            try await bring(steps[..<refusal.step], in: application)
            try await stop()
            throw ImportMistake(refusal.mistake, line: steps[refusal.step].line)
        }
    }

    private nonisolated(nonsending) mutating func bring(
        _ steps: ArraySlice<(line: Int, step: ImportStep)>, in application: Application.ID
    ) async throws {
        let outcomes = try await store.bring(steps.map(\.step), in: application)
        for ((_, step), outcome) in zip(steps, outcomes) {
            switch step {
            case .record(let record, _):
                tally.count(record.kind, isNew: outcome != .present)
                if outcome == .merged { tally.countMerged() }
                unsettled = record.conversation ?? unsettled
            case .content: break
            case .settle:
                if outcome != .present { tally.noteOrder() }
                unsettled = nil
            }
        }
    }
}

extension MovedRecord {
    /// Whose messages it begins or belongs to.
    fileprivate var conversation: Conversation.ID? {
        switch self {
        case .conversation(let moved): moved.conversation.id
        case .message(let moved): moved.message.conversation
        default: nil
        }
    }
}
