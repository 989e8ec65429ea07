public import Messaging
import SQL
import SystemSupport

extension MessagingStore {
    /// Passes all lines of the export of an application, in its state at one moment, while it continues to change (X10).
    ///
    /// The same data gives the same lines in the same order on both engines: the application, users by the bytes of
    /// their ids, their relations, conversations by id, each followed by its messages, unused contents, scheduled
    /// messages, announcements, and keys. Tokens, webhooks, exports and the event log belong to a server and are not
    /// exported.
    ///
    /// - Parameter body: Called on the thread of a reader connection, which waits for it; an error that it throws ends
    ///   the export.
    /// - Throws: `Rejection.notFound(.application)`; ``ExportInterrupted``; what the body throws.
    public func forEachLine(
        of application: Application.ID, _ body: @escaping @Sendable (ArchiveLine) throws -> Void
    ) async throws {
        let hasBegun = Locked(false)
        try await database.read { transaction in
            // After a broken connection the read runs again, but no line may be passed twice.
            guard
                hasBegun.withLock({ begun in
                    defer { begun = true }
                    return !begun
                })
            else { throw ExportInterrupted() }
            guard let found = try transaction.application(application) else {
                throw Rejection.notFound(.application)
            }
            try body(.application(found))
            try ArchiveExporter(transaction: transaction, application: application).forEach {
                record in
                try body(.record(record))
            }
        }
    }
}

/// An error: the connection broke during an export, so the lines passed so far are incomplete.
struct ExportInterrupted: Error, CustomStringConvertible {
    /// The message for the log and the command line.
    var description: String { "the connection to the database broke: run the export again" }
}

/// Reads all records of an application in order, a page at a time.
private struct ArchiveExporter {
    let transaction: Transaction
    let application: Application.ID

    /// The number of rows read at once.
    private static let pageSize = 100

    func forEach(_ body: (ArchiveRecord) throws -> Void) throws {
        try forEachItem(users) { user in try body(.user(user)) }
        try forEachItem(relations) { relations in try body(.relations(relations)) }
        try forEachItem(conversations) { conversation in
            try body(.conversation(conversation))
            guard conversation.conversation.deletedAt == nil else { return }
            try forEachMessage(in: conversation.conversation.id) { message in
                try body(.message(message))
            }
        }
        try forEachItem(unusedContents) { content in try body(.content(content)) }
        try forEachItem(scheduled) { message in
            try body(.scheduled(message.record))
        }
        try forEachItem(announcements) { announcement in try body(.announcement(announcement)) }
        try forEachItem(keys) { key in try body(.key(key)) }
    }

    /// Passes all items of a list, which is read in pages.
    ///
    /// - Parameter next: Reads the items after one; an empty array at the end.
    func forEachItem<Item>(
        _ next: (Item?) throws -> [Item], _ body: (Item) throws -> Void
    ) throws {
        var last: Item?
        repeat {
            let items = try next(last)
            for item in items { try body(item) }
            last = items.last
        } while last != nil
    }
}

extension ArchiveExporter {
    func users(after last: ArchivedUser?) throws -> [ArchivedUser] {
        try transaction.rows(
            """
            SELECT \(raw: User.columns), i.external_unread_count, i.created_at
            FROM identities i
            WHERE i.application = \(application) AND i.user_id > \(last?.user.id.text ?? "")
            ORDER BY i.user_id LIMIT \(Self.pageSize)
            """
        ) { row in
            ArchivedUser(
                try User(row), externalUnreadCount: try row.int64(.index(User.columnCount)),
                createdAt: try row.timestamp(.index(User.columnCount + 1)))
        }
    }

    /// The relations of users that follow or block others, or have blocked others before.
    func relations(after last: ArchivedRelations?) throws -> [ArchivedRelations] {
        let users = try transaction.rows(
            """
            SELECT i.user_id FROM identities i
            WHERE i.application = \(application) AND i.user_id > \(last?.user.text ?? "") AND (
                EXISTS (
                    SELECT 1 FROM following f
                    WHERE f.application = i.application AND f.follower = i.user_id AND f.is_kept = 1
                ) OR EXISTS (
                    SELECT 1 FROM blocks b
                    WHERE b.application = i.application AND b.owner = i.user_id
                ) OR EXISTS (
                    SELECT 1 FROM past_blocks b
                    WHERE b.application = i.application AND b.owner = i.user_id
                )
            )
            ORDER BY i.user_id LIMIT \(Self.pageSize)
            """
        ) { row in try row.user(0) }
        return try users.map { user in
            let periods = try transaction.blockPeriods(of: user, in: application)
            return ArchivedRelations(
                user, followed: try followed(by: user),
                blocked: periods.filter { period in period.until == nil }.map(\.user),
                blockPeriods: periods)
        }
    }

    private func followed(by user: UserID) throws -> [UserID] {
        try transaction.rows(
            """
            SELECT followed FROM following
            WHERE application = \(application) AND follower = \(user) AND is_kept = 1
            ORDER BY followed
            """
        ) { row in try row.user(0) }
    }
}

extension ArchiveExporter {
    /// Conversations by id. Of a deleted one only ids, times and version are exported (R18).
    func conversations(after last: ArchivedConversation?) throws -> [ArchivedConversation] {
        // A few large conversations fill a page.
        var places = Self.participantsAtOnce
        let found = try transaction.prefix(
            """
            SELECT \(raw: Conversation.columns) FROM conversations
            WHERE application = \(application) AND id > \(last?.conversation.id.bytes ?? [])
            ORDER BY id LIMIT \(Self.pageSize)
            """
        ) { row -> Conversation? in
            guard places > 0 else { return nil }
            let conversation = try Conversation(row)
            places -= conversation.participantCount
            return conversation
        }
        let ids = found.map(\.id)
        let aliases = try transaction.aliases(of: ids, in: application)
        let live = found.filter { conversation in conversation.deletedAt == nil }
        let members = try members(of: live.map(\.id))
        return found.map { conversation in
            ArchivedConversation(
                conversation.deletedAt.map { moment in
                    Conversation(
                        id: conversation.id, createdAt: conversation.createdAt,
                        participants: Participants([]), isDistinct: false, metadata: Metadata(),
                        deletedAt: moment, version: conversation.version)
                } ?? conversation,
                aliases: aliases[conversation.id, default: []].sorted(),
                members: members[conversation.id] ?? [])
        }
    }

    /// The number of participants whose conversations are read at once.
    private static let participantsAtOnce = 1_000

    private func members(
        of conversations: [Conversation.ID]
    ) throws -> [Conversation.ID: [ArchivedParticipant]] {
        guard !conversations.isEmpty else { return [:] }
        let receipts = try transaction.receipts(in: conversations, in: application)
        let hidden = try transaction.hidden(in: conversations, in: application)
        let members = try transaction.rows(
            """
            SELECT \(PositionedParticipant.columns), shown_from, frozen_metadata
            FROM participants
            WHERE application = \(application) AND conversation \(in: conversations)
            """
        ) { row in
            let positioned = try PositionedParticipant(row)
            let owner = ReceiptOwner(
                conversation: positioned.conversation, user: positioned.participant.userID)
            let member = ArchivedParticipant(
                positioned.participant, place: positioned.place,
                shownFrom: try row.optionalPosition(8), hidden: IntervalSet(hidden[owner] ?? []),
                receipts: receipts[owner] ?? Receipts(),
                frozenMetadata: try row.optionalBlob(9).map(Metadata.init(columnBytes:)))
            return (conversation: positioned.conversation, member: member)
        }
        return Dictionary(grouping: members, by: \.conversation).mapValues { members in
            members.map(\.member).sorted { left, right in
                (left.place, left.participant.userID) < (right.place, right.participant.userID)
            }
        }
    }

    func forEachMessage(
        in conversation: Conversation.ID, _ body: (ArchivedMessage) throws -> Void
    ) throws {
        try forEachItem({ last in try messages(in: conversation, after: last) }, body)
    }

    private func messages(
        in conversation: Conversation.ID, after last: ArchivedMessage?
    ) throws -> [ArchivedMessage] {
        let messages = try transaction.archivedMessages(
            in: conversation, after: last?.message.position ?? .start, limit: Self.pageSize,
            of: application)
        let contents = try contents(named: messages.flatMap(\.message.parts).map(\.body))
        return messages.map { archived in
            archived.with(contents.of(archived.message.parts.map(\.body)))
        }
    }
}

extension Metadata {
    fileprivate init(columnBytes: [UInt8]) throws {
        var reader = ByteReader(columnBytes)
        try self.init(from: &reader)
        try reader.finish()
    }
}

extension ArchiveExporter {
    /// Contents that were read, by their ids.
    struct Contents {
        fileprivate let found: [Content.ID: ArchivedContent]

        /// The contents of some parts, each once, in the order of the parts.
        func of(_ bodies: [MessagePart.Body]) -> [ArchivedContent] {
            var included: Set<Content.ID> = []
            return bodies.compactMap { body in
                guard case .content(let id, _) = body, included.insert(id).inserted else {
                    return nil
                }
                return found[id]
            }
        }
    }

    func contents(named bodies: [MessagePart.Body]) throws -> Contents {
        var ids: Set<Content.ID> = []
        for case .content(let id, _) in bodies { ids.insert(id) }
        let rows = try ids.sorted().powerOfTwoChunks(upTo: 64).flatMap { chunk in
            try contents("id \(in: chunk)")
        }
        return Contents(
            found: Dictionary(rows.map { archived in (archived.content.id, archived) }) { one, _ in
                one
            })
    }

    /// Contents that no message and no scheduled message uses.
    func unusedContents(after last: ArchivedContent?) throws -> [ArchivedContent] {
        try contents(
            """
            use_count = 0 AND id > \(last?.content.id.bytes ?? [])
            ORDER BY id LIMIT \(Self.pageSize)
            """)
    }

    private func contents(_ condition: SQL) throws -> [ArchivedContent] {
        try transaction.rows(
            """
            SELECT \(raw: Content.columns), uploader FROM contents
            WHERE application = \(application) AND \(condition)
            """
        ) { row in ArchivedContent(try Content(row), owner: try row.optionalUser(11)) }
    }
}

extension ArchiveExporter {
    /// A scheduled message and its position in the order of acceptance.
    struct ScheduledItem {
        /// The number in the order of acceptance.
        let turn: Int64
        let record: ArchivedScheduledMessage
    }

    /// Scheduled messages in the order of acceptance.
    func scheduled(after last: ScheduledItem?) throws -> [ScheduledItem] {
        let rows = try transaction.rows(
            """
            SELECT id, turn FROM scheduled_messages
            WHERE application = \(application) AND turn > \(last?.turn ?? 0)
            ORDER BY turn LIMIT \(Self.pageSize)
            """
        ) { row in (id: try row.id(0) as Message.ID, turn: try row.int64(1)) }
        return try rows.compactMap { row in
            try transaction.scheduledMessage(row.id, in: application).map { message in
                let bodies = message.draft.parts.map(\.body)
                let contents = try contents(named: bodies).of(bodies)
                return ScheduledItem(
                    turn: row.turn, record: ArchivedScheduledMessage(message, contents: contents))
            }
        }
    }

    func announcements(after last: ArchivedAnnouncement?) throws -> [ArchivedAnnouncement] {
        let ids = try transaction.rows(
            """
            SELECT id FROM announcements
            WHERE application = \(application) AND id > \(last?.announcement.id.bytes ?? [])
            ORDER BY id LIMIT \(Self.pageSize)
            """
        ) { row in try row.id(0) as Announcement.ID }
        let found = try transaction.announcements(ids, in: application)
        return try ids.compactMap { id in
            try found[id].map { announcement in
                ArchivedAnnouncement(announcement, recipients: try recipients(of: id))
            }
        }
    }

    private func recipients(
        of announcement: Announcement.ID
    ) throws -> [ArchivedAnnouncement.Recipient] {
        try transaction.rows(
            """
            SELECT user_id, status, deleted_at FROM announcement_recipients
            WHERE application = \(application) AND announcement = \(announcement)
            ORDER BY place
            """
        ) { row in
            guard let status = RecipientStatus(rawValue: try row.text(1)) else {
                throw StoreFault.unreadable("announcement_recipients.status")
            }
            return ArchivedAnnouncement.Recipient(
                try row.user(0), status: status, deletedAt: try row.optionalTimestamp(2))
        }
    }

    func keys(after last: ArchivedReplayKey?) throws -> [ArchivedReplayKey] {
        try transaction.rows(
            """
            SELECT kind, replay_key, object FROM replay_keys
            WHERE application = \(application)
                AND (replay_key, kind) > (\(last?.key.bytes ?? []), \(last?.kind.rawValue ?? ""))
            ORDER BY replay_key, kind LIMIT \(Self.pageSize)
            """
        ) { row in
            guard let kind = Replay.Kind(rawValue: try row.text(0)) else {
                throw StoreFault.unreadable("replay_keys.kind")
            }
            return ArchivedReplayKey(kind, try row.id(1), object: try row.id(2))
        }
    }
}
