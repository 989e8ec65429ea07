public import Messaging
import SQL

/// A step of an import.
public enum ImportStep: Equatable, Sendable {
    /// Imports a record; a message with the record of its conversation, if that was imported before.
    case record(ArchiveRecord, of: ArchivedConversation? = nil)
    /// Ends the messages of a conversation for now: if it was merged, they are sorted (X1.3).
    case reconcile(Conversation.ID)
    /// Imports a content whose bytes have arrived for the following record, which uses it.
    case content(ArchivedContent)
}

/// The outcome of a step.
public enum ImportOutcome: Equatable, Sendable {
    /// The record was new and is imported.
    case imported
    /// The object already existed, or was deleted since; nothing has changed.
    case present
    /// The conversation was new, and was merged with the existing one of its participants.
    case merged
}

/// An error: a step failed, and none of the steps passed with it was done.
public struct RejectedImportStep: Error, Equatable, Sendable {
    /// The index of the step, from zero.
    public let step: Int
    /// The error.
    public let lineError: ArchiveLineError
}

extension MessagingStore {
    /// Creates an application from an archive (X10).
    ///
    /// An existing application with this id stays unchanged. Only an unused one, created for the import, takes
    /// the name and the creation time.
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

    /// Imports records in order, all or none; when this returns, they are durable (X10).
    ///
    /// Existing objects stay unchanged, so importing the same records again changes nothing. Each record is one
    /// event, which is not delivered to webhooks.
    ///
    /// - Parameter steps: A few steps, run in one transaction. The bytes of their contents are stored.
    /// - Returns: The outcome of each step.
    /// - Throws: ``RejectedImportStep``.
    public func importRecords(
        _ steps: [ImportStep], in application: Application.ID
    ) async throws -> [ImportOutcome] {
        try await change(in: application) { context in
            var importing = RecordImporter(context: context)
            return try importing.importRecords(steps)
        }
    }
}

/// The import of a few records in one transaction.
private struct RecordImporter {
    let context: MutationContext
    /// Conversations with messages that were imported after younger ones.
    private var unordered: Set<Conversation.ID> = []
    /// Whether conversations were merged after their records were written.
    private var mergers: [Conversation.ID: Bool] = [:]

    private var transaction: Transaction { context.transaction }
    private var application: Application.ID { context.application }

    init(context: MutationContext) {
        self.context = context
    }

    mutating func importRecords(_ steps: [ImportStep]) throws -> [ImportOutcome] {
        var outcomes: [ImportOutcome] = []
        for (index, step) in steps.enumerated() {
            do {
                outcomes.append(try perform(step))
            } catch let error as ArchiveLineError {
                throw RejectedImportStep(step: index, lineError: error)
            }
        }
        for id in unordered.sorted() { try context.reconcile(id) }
        return outcomes
    }

    private mutating func perform(_ step: ImportStep) throws -> ImportOutcome {
        switch step {
        case .reconcile(let id): return try reconcile(id)
        case .content(let archived): return try importContent(archived)
        case .record(let record, let conversation):
            guard let record = try missing(record, of: conversation) else { return .present }
            try context.record(.recordImported(RecordImported(record: record)))
            if case .scheduled(let archived) = record {
                context.notifySender(of: archived.message.dueAt)
            }
            if case .conversation(let archived) = record, try merge(archived.conversation) {
                return .merged
            }
            return .imported
        }
    }

    /// A content whose bytes are being deleted is not imported; a record that uses it is rejected.
    private func importContent(_ archived: ArchivedContent) throws -> ImportOutcome {
        var content = archived.content
        guard try transaction.content(content.id, in: application) == nil,
            try !transaction.isDropped(content.id, in: application)
        else { return .present }
        // Its conversation may have been merged into another one here (X1.2).
        content.conversation = try content.conversation.map { id in
            try transaction.winner(of: id, in: application) ?? id
        }
        let home = ArchivedContent(content, owner: archived.owner)
        try context.record(.recordImported(RecordImported(record: .content(home))))
        return .imported
    }

    /// Merges a conversation right after its import with the existing one of its participants, before other
    /// code finds both (ruling 26).
    private func merge(_ own: Conversation) throws -> Bool {
        guard own.isDistinct, own.deletedAt == nil else { return false }
        let holder = try transaction.distinctConversation(
            of: DistinctKey(own.participants, hash: context.hash), in: application)
        guard holder?.id != own.id else { return false }
        return try context.reconcile(own.id).hasChanged
    }

    /// The part of a record that is missing here; `nil` when nothing is.
    private mutating func missing(
        _ record: ArchiveRecord, of conversation: ArchivedConversation?
    ) throws -> ArchiveRecord? {
        switch record {
        // The application was imported before all other records.
        case .application: return nil
        case .user(let archived): return try isMissing(archived) ? record : nil
        case .relations(let archived): return try missing(archived).map(ArchiveRecord.relations)
        case .conversation(let archived):
            let id = archived.conversation.id
            let isThere =
                try transaction.storedConversation(id, in: application) != nil
                || transaction.winner(of: id, in: application) != nil
            return isThere ? nil : record
        case .message(let archived):
            return try missing(archived, of: conversation).map(ArchiveRecord.message)
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

    /// A provided identity stays unchanged; a user that was only named takes the imported one.
    private func isMissing(_ archived: ArchivedUser) throws -> Bool {
        guard let known = try transaction.user(archived.user.id, in: application) else {
            return true
        }
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

    /// - Parameter blocked: The imported users that are not in the block list here.
    private func newPeriods(
        of archived: ArchivedRelations, blocking blocked: Set<UserID>
    ) throws -> [ArchivedRelations.BlockPeriod] {
        guard !archived.blockPeriods.isEmpty else { return [] }
        let known = Set(try transaction.blockPeriods(of: archived.user, in: application))
        return archived.blockPeriods.filter { period in
            period.until == nil ? blocked.contains(period.user) : !known.contains(period)
        }
    }

    /// A message keeps its position, unless another message has it or its conversation was merged.
    ///
    /// - Parameter conversation: The record of its conversation.
    private mutating func missing(
        _ archived: ArchivedMessage, of conversation: ArchivedConversation?
    ) throws -> ArchivedMessage? {
        let message = archived.message
        // Sent together, in one round trip.
        let known = try transaction.askHome(of: message.id, in: application)
        // The id of a deleted message stays taken (rulings 12).
        let trace = try transaction.askObject(
            createdWith: Replay.Key(message.id), as: .message, in: application)
        let neighbour = try transaction.askMessage(
            at: message.position, in: message.conversation, in: application)
        guard let home = try home(message.conversation), home.deletedAt == nil else { return nil }
        if let known = try known.first() {
            guard known == home.id else {
                throw ArchiveLineError("id", "belongs to a message in another conversation here")
            }
            return nil
        }
        guard try trace.first() == nil else { return nil }
        for content in archived.contents { _ = try isMissing(content, "contents.") }
        guard try home.id != message.conversation || isMerged(home, since: conversation) else {
            guard try neighbour.first() != nil else { return archived }
            unordered.insert(home.id)
            return archived.moved(
                to: home.lastPosition.next, in: home.id,
                recipients: conversation?.recipients(at: message.position) ?? [])
        }
        // What its participants have received and read stands in the record only.
        guard let conversation else {
            throw ArchiveLineError(
                "conversation",
                "was merged: its messages must directly follow its line, as in an export")
        }
        // Messages of a merged conversation are sorted when all have been imported. Until then they follow the
        // last position: a free position before it may be one up to which a participant deleted all messages.
        return archived.moved(
            to: home.lastPosition.next, in: home.id,
            recipients: conversation.recipients(at: message.position))
    }

    /// Whether a conversation was merged after its record was written: the positions of the record are then those
    /// of other messages here, and its receipts and hidden positions have to be stored with each message.
    ///
    /// Every merge raises the version. The record of a conversation that was merged on the other server may name
    /// the same aliases.
    private mutating func isMerged(
        _ home: Conversation, since record: ArchivedConversation?
    ) throws -> Bool {
        guard home.isDistinct else { return false }
        if let known = mergers[home.id] { return known }
        let aliases = try transaction.aliases(of: home.id, in: application)
        let isUnchanged =
            record.map { record in
                aliases == Set(record.aliases) && home.version == record.conversation.version
            } ?? false
        let isMerged = !aliases.isEmpty && !isUnchanged
        mergers[home.id] = isMerged
        return isMerged
    }

    private func missing(_ archived: ArchivedScheduledMessage) throws -> ArchivedScheduledMessage? {
        let id = archived.message.id
        let known = try transaction.sending(createdWith: Replay.Key(id), in: application)
        let isSent = try transaction.message(id, in: application) != nil
        guard known == nil, !isSent, let home = try home(archived.message.conversation) else {
            return nil
        }
        for content in archived.contents { _ = try isMissing(content, "contents.") }
        return home.id == archived.message.conversation ? archived : archived.moved(to: home.id)
    }

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
            throw ArchiveLineError("\(prefix)sha256", "is not that of the content of this id here")
        }
        return false
    }

    /// The conversation with this id or alias, deleted or not.
    private func home(_ id: Conversation.ID) throws -> Conversation? {
        if let own = try transaction.storedConversation(id, in: application) { return own }
        let winner = try transaction.winner(of: id, in: application)
        let home = try winner.flatMap { id in
            try transaction.storedConversation(id, in: application)
        }
        guard let home else {
            throw ArchiveLineError("conversation", "is neither on a line before nor here")
        }
        return home
    }

    /// A conversation that was never merged stays unchanged, because its positions are known to clients.
    private func reconcile(_ id: Conversation.ID) throws -> ImportOutcome {
        guard let own = try home(id), own.isDistinct, own.deletedAt == nil,
            try own.id != id || !transaction.aliases(of: id, in: application).isEmpty
        else { return .present }
        return try context.reconcile(own.id).hasChanged ? .imported : .present
    }
}

extension Application {
    fileprivate func differs(from other: Application) -> Bool {
        name != other.name || createdAt != other.createdAt
            || sessionLifetime != other.sessionLifetime ?? sessionLifetime
    }
}

// Queries of an import before a record is imported.
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

    /// Queries the conversation of a message.
    func askHome(
        of message: Message.ID, in application: Application.ID
    ) throws -> DeferredRows<Conversation.ID> {
        try ask(
            """
            SELECT conversation FROM messages
            WHERE application = \(application) AND id = \(message)
            """
        ) { row in try row.id(0) }
    }

    /// Queries the message at a position.
    func askMessage(
        at place: Position, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Message.ID> {
        try ask(
            """
            SELECT id FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position = \(place)
            """
        ) { row in try row.id(0) }
    }

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
    }

    init(from reader: inout ByteReader) throws {
        self.init(record: try ArchiveRecord(from: &reader))
    }

    func apply(to rows: Projection) throws {
        try rows.insert(record)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        switch record {
        case .user(let archived): [.user(archived.user.id, application)]
        case .conversation(let archived): [.messages(archived.conversation.id, application)]
        // It may be placed before other messages and change the counts of all of them.
        case .message(let archived): [.messages(archived.message.conversation, application)]
        case .application, .relations, .content, .scheduled, .announcement, .key: []
        }
    }
}
