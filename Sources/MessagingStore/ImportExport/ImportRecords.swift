public import Messaging
import SQL

/// A step of an import.
public enum ImportStep: Equatable, Sendable {
    /// Imports a record. A message is passed with the record of its conversation, if that is on an earlier line.
    case prepared(PreparedRecord, of: ArchivedConversation?)
    /// Sorts the messages of a conversation by the time of sending, if it was merged (X1.3); passed after its last
    /// message, and when the import stops.
    case sort(Conversation.ID)
    /// Imports a content whose bytes are stored, before the record that uses it.
    case content(ArchivedContent)

    /// Prepares a record, and imports it.
    public static func record(
        _ record: ArchiveRecord, of conversation: ArchivedConversation? = nil
    ) -> ImportStep {
        .prepared(PreparedRecord(record), of: conversation)
    }
}

/// A record with what an import writes of it whatever the database holds, so that other writers do not wait while that is
/// encoded.
public struct PreparedRecord: Equatable, Sendable {
    /// The record.
    public let record: ArchiveRecord
    /// The event of the record.
    fileprivate let encoded: [UInt8]

    /// Encodes a record.
    public init(_ record: ArchiveRecord) {
        self.record = record
        encoded = RecordImported(record: record).encoded
    }
}

/// The outcome of a step.
public enum ImportOutcome: Equatable, Sendable {
    /// The record was new and is imported.
    case imported
    /// The object exists already, or was deleted here; nothing has changed.
    case present
    /// The conversation was new, and was merged with the existing one of its participants.
    case merged
}

/// An error: a step was rejected, and no step of the same call was done.
public struct RejectedImportStep: Error, Equatable, Sendable {
    /// The index of the step in the call, from 0.
    public let step: Int
    /// The error in the line of the step.
    public let lineError: ArchiveLineError
}

extension MessagingStore {
    /// Creates an application from an archive (X10).
    ///
    /// An existing application with this id stays unchanged, unless it has no objects yet, because it was created for the
    /// import: then it gets the name, the creation time and the session lifetime of the archive.
    public func importApplication(_ application: Application) async throws -> ImportOutcome {
        try await change(in: application.id) { context in
            if let known = try context.transaction.application(application.id) {
                guard known.differs(from: application),
                    try context.transaction.isUnused(application.id)
                else { return .present }
                try context.record(
                    .recordImported(RecordImported(record: .application(application))))
            } else {
                try context.record(
                    .applicationCreated(ApplicationCreated(application: application)))
            }
            if let lifetime = application.sessionLifetime {
                try context.record(.sessionLifetimeSet(SessionLifetimeSet(seconds: lifetime)))
            }
            return .imported
        }
    }

    /// Runs steps of an import in order and in one transaction, all or none, and then sorts conversations; when this
    /// returns, all is durable (X10).
    ///
    /// Existing objects stay unchanged, so importing the same records again changes nothing. Each record is one
    /// event, which is not delivered to webhooks.
    ///
    /// - Parameters:
    ///   - steps: A few steps. The bytes of their contents must be stored already.
    ///   - limit: See ``sortMessages(of:in:atMost:taking:)``.
    /// - Returns: The outcome of each step, and the time of the transaction without that of sorting.
    /// - Throws: ``RejectedImportStep``.
    @discardableResult
    public func importRecords(
        _ steps: [ImportStep], in application: Application.ID,
        sortingAtMost limit: Int = MessagingStore.sortedAtOnce
    ) async throws -> (outcomes: [ImportOutcome], time: TransactionTime) {
        var (outcomes, time) = try await importUnsorted(steps, in: application)
        for (index, step) in steps.enumerated() {
            guard case .sort(let id) = step else { continue }
            if try await sortMessages(of: id, in: application, atMost: limit) {
                outcomes[index] = .imported
            }
        }
        return (outcomes, time)
    }

    private func importUnsorted(
        _ steps: [ImportStep], in application: Application.ID
    ) async throws -> (value: [ImportOutcome], time: TransactionTime) {
        try await timedChange(
            in: application,
            prefetching: { [environment] transaction in
                try transaction.prefetch(steps, in: application, hash: environment.sha256)
            }
        ) { context in
            var importing = RecordImporter(steps, in: context)
            return try importing.importRecords()
        }
    }
}

/// The import of a few records in one transaction.
private struct RecordImporter {
    let context: MutationContext
    private let steps: [ImportStep]
    /// The results of ``isMerged(_:since:)`` so far.
    private var mergeResults: [Conversation.ID: Bool] = [:]
    /// What is known here of the messages among the next steps; `nil` before they were queried, and when that may have
    /// changed.
    private var known: KnownMessages?
    /// The index of the first step whose message was not queried.
    private var knownEnd = 0
    /// Messages that are decided and will be written together.
    private var decided: DecidedMessages?

    /// The number of steps whose rows a server inserts while the next ones are decided.
    private static let stepsAtOnce = 64
    /// The number of steps whose messages are queried at once: few, because another record may make it necessary to query
    /// the rest again.
    private static let queriedAtOnce = 128

    private var transaction: Transaction { context.transaction }
    private var application: Application.ID { context.application }

    init(_ steps: [ImportStep], in context: MutationContext) {
        self.steps = steps
        self.context = context
    }

    mutating func importRecords() throws -> [ImportOutcome] {
        var outcomes: [ImportOutcome] = []
        outcomes.reserveCapacity(steps.count)
        for (index, step) in steps.enumerated() {
            do {
                outcomes.append(try perform(step, at: index))
            } catch let error as ArchiveLineError {
                throw RejectedImportStep(step: index, lineError: error)
            }
            if (index + 1).isMultiple(of: Self.stepsAtOnce) { try transaction.sendInsertions() }
        }
        try writeMessages()
        return outcomes
    }

    private mutating func perform(_ step: ImportStep, at index: Int) throws -> ImportOutcome {
        if case .prepared(let prepared, let conversation) = step,
            case .message(let archived) = prepared.record
        {
            return try importMessage(archived, prepared.encoded, of: conversation, at: index)
        }
        try writeMessages()
        switch step {
        case .sort: return .present
        case .content(let archived): return try importContent(archived)
        case .prepared(let prepared, _): return try importRecord(prepared.record)
        }
    }

    /// Imports any record but a message.
    private mutating func importRecord(_ record: ArchiveRecord) throws -> ImportOutcome {
        guard let record = try missing(record) else { return .present }
        let hasOther = try hasOther(record)
        try context.record(.recordImported(RecordImported(record: record)))
        switch record {
        case .scheduled(let archived):
            context.notifySender(of: archived.message)
            known = nil
        case .key: known = nil
        case .conversation(let archived):
            // In the same transaction, so that two are never visible (ruling 26).
            guard hasOther else { break }
            known = nil
            try context.reconcile(archived.conversation.id)
            return .merged
        case .application, .user, .relations, .message, .content, .announcement: break
        }
        return .imported
    }

    private mutating func importMessage(
        _ archived: ArchivedMessage, _ encoded: [UInt8], of conversation: ArchivedConversation?,
        at index: Int
    ) throws -> ImportOutcome {
        let id = archived.message.conversation
        if let decided, decided.conversation.id != id { try writeMessages() }
        guard let (placed, isMoved) = try missing(archived, of: conversation, at: index) else {
            return .present
        }
        known?.insert(placed.message)
        guard !isMoved, archived.isPlain else {
            try writeMessages()
            try context.record(
                .recordImported(RecordImported(record: .message(placed), isMoved: isMoved)))
            return .imported
        }
        if decided == nil {
            decided = DecidedMessages(conversation: try knownConversation(id))
        }
        decided?.messages.append(archived)
        decided?.encoded.append(encoded)
        return .imported
    }

    /// Writes the messages that are decided, as ``MutationContext/record(_:reaching:)`` would write each of them.
    private mutating func writeMessages() throws {
        guard let decided else { return }
        self.decided = nil
        let id = decided.conversation.id
        try context.requireNotBeingErased(decided.messages.compactMap(\.message.sender.userID))
        let events = try context.append(.recordImported, decided.encoded)
        events.last.insert(decided.messages, eventsFrom: events.first)
        try events.last.count(decided.messages, in: id)
        context.announce([.messages(id, application)], through: events.last.position)
    }

    /// The position after the last message of a conversation.
    private mutating func nextPosition(in id: Conversation.ID) throws -> Position {
        try writeMessages()
        return try knownConversation(id).lastPosition.next
    }

    /// Imports a content, unless it exists, or its bytes are being deleted here; a record that uses it is then rejected.
    private func importContent(_ archived: ArchivedContent) throws -> ImportOutcome {
        var content = archived.content
        guard try transaction.content(content.id, in: application) == nil,
            try !transaction.isDropped(content.id, in: application)
        else { return .present }
        // Its conversation may have been merged into another one here (X1.2).
        content.conversation = try content.conversation.map { id in
            try transaction.winner(of: id, in: application) ?? id
        }
        let moved = ArchivedContent(content, owner: archived.owner)
        try context.record(.recordImported(RecordImported(record: .content(moved))))
        return .imported
    }

    /// Whether a record is that of a distinct conversation whose participants have one here already.
    private func hasOther(_ record: ArchiveRecord) throws -> Bool {
        guard case .conversation(let archived) = record,
            let key = archived.conversation.distinctKey(context.hash)
        else { return false }
        return try transaction.queryDistinctConversation(of: key, in: application).first() != nil
    }

    /// What has to be imported of a record, because it does not exist here; `nil` for nothing.
    private func missing(_ record: ArchiveRecord) throws -> ArchiveRecord? {
        switch record {
        // The application was imported before all other records, and messages are imported by another function.
        case .application, .message: return nil
        case .user(let archived): return try isMissing(archived) ? record : nil
        case .relations(let archived): return try missing(archived).map(ArchiveRecord.relations)
        case .conversation(let archived):
            let id = archived.conversation.id
            let isThere =
                try transaction.queryLocked(id, in: application).first() != nil
                || transaction.winner(of: id, in: application) != nil
            return isThere ? nil : record
        case .content(let archived):
            return try isMissing(archived, "") ? record : nil
        case .scheduled(let archived): return try missing(archived).map(ArchiveRecord.scheduled)
        case .announcement(let archived):
            let known = try transaction.announcements([archived.announcement.id], in: application)
            return known.isEmpty ? record : nil
        case .key(let archived):
            let object = try transaction.object(
                createdWith: archived.key, as: archived.kind, in: application)
            return object == nil ? record : nil
        }
    }

    /// Whether a user is to be imported: the user is unknown here, or has no provided identity and the record has one.
    private func isMissing(_ archived: ArchivedUser) throws -> Bool {
        let id = archived.user.id
        guard try !transaction.prefetchedIdentities(of: [id], in: application).isEmpty,
            let known = try transaction.user(id, in: application)
        else { return true }
        return known.identityStatus != .provided && archived.user.identityStatus == .provided
    }

    private func missing(_ archived: ArchivedRelations) throws -> ArchivedRelations? {
        let known = try transaction.relations(of: archived.user, in: application)
        let followed = archived.followed.filter { user in !known.followed.contains(user) }
        let blocked = archived.blocked.filter { user in !known.blocked.contains(user) }
        let periods = try newPeriods(of: archived, blocking: Set(blocked))
        guard !followed.isEmpty || !blocked.isEmpty || !periods.isEmpty else { return nil }
        return ArchivedRelations(
            archived.user, followed: followed, blocked: blocked, blockPeriods: periods)
    }

    /// The block periods of a record that are unknown here.
    ///
    /// - Parameter blocked: The users in the record's block list that are not in the list here.
    private func newPeriods(
        of archived: ArchivedRelations, blocking blocked: Set<UserID>
    ) throws -> [ArchivedRelations.BlockPeriod] {
        guard !archived.blockPeriods.isEmpty else { return [] }
        let known = Set(try transaction.blockPeriods(of: archived.user, in: application))
        return archived.blockPeriods.filter { period in
            period.until == nil ? blocked.contains(period.user) : !known.contains(period)
        }
    }

    /// What has to be imported of a message; `nil` for nothing. The message keeps its position, unless another message
    /// here has it, or its conversation was merged.
    ///
    /// - Parameters:
    ///   - conversation: The record of its conversation, if that is on an earlier line.
    ///   - index: The index of its step.
    /// - Throws: ``ArchiveLineError``.
    private mutating func missing(
        _ archived: ArchivedMessage, of conversation: ArchivedConversation?, at index: Int
    ) throws -> (message: ArchivedMessage, isMoved: Bool)? {
        let message = archived.message
        let target = try decided?.conversation ?? knownConversation(message.conversation)
        guard target.deletedAt == nil else { return nil }
        let known = try knownMessages(at: index)
        if let owner = known.conversation(of: message.id) {
            guard owner == target.id else {
                throw ArchiveLineError("id", "belongs to a message in another conversation here")
            }
            return nil
        }
        guard !known.isDeleted(message.id) else { return nil }
        for content in archived.contents { _ = try isMissing(content, "contents.") }
        let isMerged =
            try target.id != message.conversation || isMerged(target, since: conversation)
        guard isMerged else {
            guard known.isTaken(message.position, in: message.conversation) else {
                return (archived, isMoved: false)
            }
            let moved = archived.moved(
                to: try nextPosition(in: target.id), in: target.id,
                recipients: conversation?.recipients(at: message.position) ?? [])
            return (moved, isMoved: true)
        }
        // Only the record has what its participants have received and read.
        guard let conversation else {
            throw ArchiveLineError(
                "conversation",
                "was merged: its messages must directly follow its line, as in an export")
        }
        // The message is added after the last position, and all are sorted later: those of a merged conversation when
        // all were imported. It does not get a free position before, because a participant may have deleted all
        // messages up to that one.
        let moved = archived.moved(
            to: try nextPosition(in: target.id), in: target.id,
            recipients: conversation.recipients(at: message.position))
        return (moved, isMoved: true)
    }

    /// What is known here of the message of a step.
    private mutating func knownMessages(at index: Int) throws -> KnownMessages {
        if let known, index < knownEnd { return known }
        // The query must find the messages that were decided before.
        try writeMessages()
        knownEnd = min(index + Self.queriedAtOnce, steps.count)
        let found = try KnownMessages(
            of: steps[index..<knownEnd], on: transaction, in: application)
        known = found
        return found
    }

    /// Whether a conversation was merged here after its record was written. Then the positions of the record are those of
    /// other messages here, and its receipts and hidden positions have to be stored with each message.
    ///
    /// The aliases are not sufficient, because a conversation that was merged on the other server has the same ones in
    /// its record. But every merge raises the version.
    private mutating func isMerged(
        _ conversation: Conversation, since record: ArchivedConversation?
    ) throws -> Bool {
        guard conversation.isDistinct else { return false }
        if let known = mergeResults[conversation.id] { return known }
        let aliases = try transaction.aliases(of: conversation.id, in: application)
        let isUnchanged =
            record.map { record in
                aliases == Set(record.aliases)
                    && conversation.version == record.conversation.version
            } ?? false
        let isMerged = !aliases.isEmpty && !isUnchanged
        mergeResults[conversation.id] = isMerged
        return isMerged
    }

    /// What has to be imported of a scheduled message; `nil` if its id is used here.
    private func missing(_ archived: ArchivedScheduledMessage) throws -> ArchivedScheduledMessage? {
        let id = archived.message.id
        let known = try transaction.sending(createdWith: Replay.Key(id), in: application)
        let isSent = try transaction.message(id, in: application) != nil
        guard known == nil, !isSent else { return nil }
        let target = try knownConversation(archived.message.conversation)
        for content in archived.contents { _ = try isMissing(content, "contents.") }
        return target.id == archived.message.conversation ? archived : archived.moved(to: target.id)
    }

    /// Whether a content does not exist here.
    ///
    /// - Parameter prefix: Comes before the names of its members in errors.
    /// - Throws: ``ArchiveLineError`` when its bytes are being deleted, or the content of this id here is another one.
    private func isMissing(_ archived: ArchivedContent, _ prefix: String) throws -> Bool {
        let content = archived.content
        guard let known = try transaction.content(content.id, in: application) else {
            guard try !transaction.isDropped(content.id, in: application) else {
                throw ArchiveLineError(
                    "\(prefix)id",
                    "belongs to a content whose bytes are being deleted here: try again later")
            }
            return true
        }
        guard known.sha256 == content.sha256 else {
            throw ArchiveLineError(
                "\(prefix)sha256", "differs from that of the content with this id here")
        }
        return false
    }

    /// The conversation with this id or alias, deleted or not, without its participants.
    ///
    /// - Throws: ``ArchiveLineError`` when there is none.
    private func knownConversation(_ id: Conversation.ID) throws -> Conversation {
        if let own = try transaction.queryLocked(id, in: application).first() { return own }
        let winner = try transaction.winner(of: id, in: application)
        let known = try winner.flatMap { id in
            try transaction.queryLocked(id, in: application).first()
        }
        guard let known else {
            throw ArchiveLineError("conversation", "must be on an earlier line, or exist here")
        }
        return known
    }
}

/// New messages of one conversation with their own positions.
private struct DecidedMessages {
    /// The conversation, without these messages.
    let conversation: Conversation
    var messages: [ArchivedMessage] = []
    /// Their events.
    var encoded: [[UInt8]] = []
}

extension ArchivedMessage {
    /// Whether it has nothing but inline parts in the order of their creation.
    fileprivate var isPlain: Bool {
        contents.isEmpty && recipients.isEmpty && places.allSatisfy { place in place == nil }
            && message.parts.allSatisfy { part in
                if case .inline = part.body { true } else { false }
            }
    }
}

extension ImportStep {
    /// The message of the record; `nil` for another record.
    var archivedMessage: ArchivedMessage? {
        if case .prepared(let prepared, _) = self, case .message(let archived) = prepared.record {
            archived
        } else {
            nil
        }
    }
}

extension Conversation {
    /// The key of its participants; `nil` unless it is a live distinct conversation.
    func distinctKey(_ hash: ([UInt8]) -> [UInt8]) -> DistinctKey? {
        isDistinct && deletedAt == nil ? DistinctKey(participants, hash: hash) : nil
    }
}

extension Application {
    /// Whether an import of another application would change this one.
    fileprivate func differs(from other: Application) -> Bool {
        name != other.name || createdAt != other.createdAt
            || sessionLifetime != other.sessionLifetime ?? sessionLifetime
    }
}

// The queries that decide what an import has to write.
extension Transaction {
    /// Whether an application has no users, conversations, contents or announcements.
    func isUnused(_ application: Application.ID) throws -> Bool {
        let tables: [StaticString] = ["identities", "conversations", "contents", "announcements"]
        return try tables.allSatisfy { table in
            try first("SELECT 1 FROM \(raw: table) WHERE application = \(application) LIMIT 1") {
                _ in true
            } == nil
        }
    }

    /// The users that a user follows, explicitly or not, and blocks.
    func relations(
        of user: UserID, in application: Application.ID
    ) throws -> (followed: Set<UserID>, blocked: Set<UserID>) {
        let followed = try rows(
            """
            SELECT followed FROM following
            WHERE application = \(application) AND follower = \(user)
            """
        ) { row in try row.user(0) }
        let blocked = try rows(
            "SELECT blocked FROM blocks WHERE application = \(application) AND owner = \(user)"
        ) { row in try row.user(0) }
        return (Set(followed), Set(blocked))
    }

    /// Whether the bytes of a content are still to be deleted.
    func isDropped(
        _ content: Content.ID, in application: Application.ID
    ) throws -> Bool {
        try first(
            """
            SELECT 1 FROM dropped_contents
            WHERE application = \(application) AND content = \(content)
            """
        ) { _ in true } ?? false
    }
}

extension RecordImported: StoredEvent {
    func write(to writer: inout ByteWriter) {
        record.write(to: &writer)
        writer.write(isMoved)
    }

    init(from reader: inout ByteReader) throws {
        self.init(record: try ArchiveRecord(from: &reader), isMoved: try reader.flag())
    }

    func apply(to rows: Projection) throws {
        if isMoved, case .message(let archived) = record {
            try rows.noteUnsorted(archived.message)
        }
        try rows.insert(record)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        switch record {
        case .user(let archived): [.user(archived.user.id, application)]
        case .conversation(let archived): [.messages(archived.conversation.id, application)]
        // With the message, receipts and hidden positions of the conversation may be written.
        case .message(let archived): [.messages(archived.message.conversation, application)]
        case .application, .relations, .content, .scheduled, .announcement, .key: []
        }
    }
}
