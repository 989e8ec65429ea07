import Messaging
import SQL

/// The views of a conversation's participants while messages are imported into it.
///
/// It has what decides how a message counts in a view, and the changes that the messages of one commit make to the
/// counts, so that each row is read and written once.
final class ImportedViews {
    /// The view of a current or former participant.
    struct View {
        let user: UserID
        let joinedAfter: Position
        let leftAfter: Position?
        let clearedTo: Position
        /// Whether the counts of the row are relative to the number of messages of the conversation.
        let isWide: Bool
        /// Positions that the participant has read.
        var read: IntervalSet
        /// Positions that the participant does not see, as far as they are known.
        var hidden = IntervalSet()

        fileprivate var changes = Changes()
    }

    /// What messages add to the columns of a row.
    fileprivate struct Changes {
        var total: Int64 = 0
        var unshown: Int64 = 0
        var unread: Int64 = 0
        /// The last message that the view shows.
        var last: NewestMessage?

        var isEmpty: Bool { total == 0 && unshown == 0 && unread == 0 && last == nil }
    }

    private var views: [View]
    /// The positions at which the hidden positions of the views are known.
    private var known: ClosedRange<Int64>?
    private(set) var hasChanges = false

    /// - Parameter known: The positions at which hidden positions are known; `nil` for none.
    init(_ views: [View], hiddenKnownAt known: ClosedRange<Int64>? = nil) {
        self.views = views
        self.known = known
    }

    func knowsHidden(at position: Position) -> Bool { known?.contains(position.number) ?? false }

    /// Sets the positions in a range that participants do not see.
    func set(
        _ hidden: [ReceiptOwner: [ClosedRange<Int64>]], of conversation: Conversation.ID,
        in range: ClosedRange<Int64>
    ) {
        known = range
        for index in views.indices {
            let owner = ReceiptOwner(conversation: conversation, user: views[index].user)
            views[index].hidden = IntervalSet(hidden[owner] ?? [])
        }
    }

    /// Adds receipts and hidden positions of a message.
    func add(_ recipients: [ArchivedMessage.Recipient], at position: Position) {
        let message = IntervalSet(position.number...position.number)
        let byUser = Dictionary(recipients.map { ($0.user, $0) }) { first, _ in first }
        for index in views.indices {
            guard let recipient = byUser[views[index].user] else { continue }
            if recipient.isHidden {
                views[index].hidden = views[index].hidden.union(message)
            }
            if recipient.status == .read { views[index].read = views[index].read.union(message) }
        }
    }

    /// Counts a message in all views.
    func count(_ message: Message) {
        hasChanges = true
        for index in views.indices { views[index].count(message) }
    }

    /// Returns the statements that write the changes, of which there are none then.
    func takeStatements(
        in conversation: Conversation.ID, of application: Application.ID
    ) -> [SQL] {
        let changed = views.filter { view in !view.changes.isEmpty }
        for index in views.indices { views[index].changes = Changes() }
        hasChanges = false
        return changed.powerOfTwoChunks(upTo: 256).map { chunk in
            let (changes, last) = (chunk.map(\.changes), chunk.map(\.changes.last))
            return """
                UPDATE participants SET
                    total_count = total_count + column2, unshown_count = unshown_count + column3,
                    unread_count = unread_count + column4,
                    last_position = CASE
                        WHEN COALESCE(last_position, 0) < column5 THEN column5 ELSE last_position
                    END,
                    last_message = CASE
                        WHEN COALESCE(last_position, 0) < column5 THEN column6 ELSE last_message
                    END,
                    last_at = CASE
                        WHEN COALESCE(last_position, 0) < column5 THEN column7 ELSE last_at
                    END
                FROM \(table: "changes", of: [
                    .texts(chunk.map(\.user.text)), .integers(changes.map(\.total)),
                    .integers(changes.map(\.unshown)), .integers(changes.map(\.unread)),
                    .integers(last.map { last in last?.position.number ?? 0 }),
                    .blobs(last.map { last in last?.id.bytes ?? [] }),
                    .integers(last.map { last in last?.sentAt.milliseconds ?? 0 }),
                ])
                WHERE application = \(application) AND conversation = \(conversation)
                    AND user_id = column1
                """
        }
    }
}

extension ImportedViews.View {
    init(_ member: ArchivedParticipant, of conversation: Conversation) {
        let participant = member.participant
        self.init(
            user: participant.userID, joinedAfter: participant.joinedAfter,
            leftAfter: participant.leftAfter, clearedTo: participant.clearedTo,
            isWide: conversation.isWide && !participant.isFormer, read: member.receipts.read,
            hidden: member.hidden)
    }

    /// Adds a message to the counts, and makes it the last message if there is no later one.
    ///
    /// In the row of a current participant of a wide conversation, 0 stands for the number of its messages, so a message
    /// that does not count there is subtracted.
    fileprivate mutating func count(_ message: Message) {
        let position = message.position
        guard leftAfter.map({ left in left >= position }) ?? true else { return }
        let counted: Int64 = isWide ? 1 : 0
        guard clearedTo < position, !hidden.contains(position.number) else {
            changes.unshown += 1
            changes.total -= counted
            changes.unread -= counted
            return
        }
        let isUnread =
            joinedAfter < position && message.sender.userID != user
            && !read.contains(position.number)
        changes.total += 1 - counted
        changes.unread += (isUnread ? 1 : 0) - counted
        guard !isWide, changes.last.map({ last in last.position < position }) ?? true else {
            return
        }
        changes.last = NewestMessage(id: message.id, position: position, sentAt: message.sentAt)
    }
}

extension Projection {
    /// Counts imported messages in their conversation. The row is written once for all messages of a commit.
    func count(imported messages: [Message], in id: Conversation.ID) throws {
        guard var conversation = try transaction.queryLocked(id, in: application).first() else {
            return
        }
        if conversation.deletedAt == nil {
            try transaction.addToMessageCount(Int64(messages.count), in: application)
        }
        for message in messages {
            conversation.messageCount += 1
            let isLater =
                conversation.lastSentAt.map { last in
                    conversation.lastPosition < message.position && last < message.sentAt
                } ?? true
            if isLater { conversation.lastSentAt = message.sentAt }
            conversation.lastPosition = max(conversation.lastPosition, message.position)
        }
        let row = RowCacheKey<Void>(
            of: [.conversation(id, in: application)], aspect: Array("imported".utf8))
        transaction.deferWrite((), of: row) { [application, conversation] in
            """
            UPDATE conversations SET
                message_count = \(conversation.messageCount),
                last_position = \(conversation.lastPosition),
                last_sent_at = \(conversation.lastSentAt)
            WHERE application = \(application) AND id = \(id)
            """
        }
        transaction.cache(conversation, for: Conversation.cacheKey(id, in: application))
    }

    /// Counts imported messages in all views, and makes them the last message of views without a later one. The rows are
    /// written once for all messages of a commit. Hidden positions and receipts of the messages are stored first.
    func countInViews(_ archived: [ArchivedMessage], in id: Conversation.ID) throws {
        let views = try importedViews(of: id)
        for archived in archived {
            let (message, recipients) = (archived.message, archived.recipients)
            let position = message.position
            if !views.knowsHidden(at: position) {
                let range = position.number...position.number + Self.hiddenAtOnce - 1
                let hidden = try transaction.hidden(in: [id], at: range, in: application)
                views.set(hidden, of: id, in: range)
            }
            if !recipients.isEmpty {
                try insert(recipients, of: message)
                views.add(recipients, at: position)
                cache(views, of: id)
            }
            views.count(message)
        }
        if transaction.deferred(viewChanges(of: id)) !== views {
            transaction.deferWrites(views, of: viewChanges(of: id)) { [application] in
                views.takeStatements(in: id, of: application)
            }
        }
        transaction.invalidate([.viewCounts(of: id, in: application)])
    }

    /// Reads the views of a conversation, unless they were read before in this commit and are unchanged.
    private func importedViews(of id: Conversation.ID) throws -> ImportedViews {
        // A write of the same rows that was deferred later must not come before changes of these views.
        if let views = try transaction.cached(ImportedViews.cacheKey(of: id, in: application)),
            !views.hasChanges || transaction.deferred(viewChanges(of: id)) === views
        {
            return views
        }
        let views = ImportedViews(
            try transaction.rows(
                """
                SELECT p.user_id, p.joined_after, p.left_after, p.cleared_to, p.is_wide, r.read
                FROM participants p
                LEFT JOIN receipts r ON r.application = p.application
                    AND r.conversation = p.conversation AND r.user_id = p.user_id
                WHERE p.application = \(application) AND p.conversation = \(id)
                """
            ) { row in
                ImportedViews.View(
                    user: try row.user(0), joinedAfter: try row.position(1),
                    leftAfter: try row.optionalPosition(2), clearedTo: try row.position(3),
                    isWide: try row.bool(4),
                    read: try row.isNull(5) ? IntervalSet() : try row.intervals(5))
            })
        cache(views, of: id)
        return views
    }

    /// Caches the views of a conversation for the next messages of the commit.
    func cache(_ views: ImportedViews, of id: Conversation.ID) {
        transaction.cache(views, for: ImportedViews.cacheKey(of: id, in: application))
    }

    private func viewChanges(of id: Conversation.ID) -> RowCacheKey<ImportedViews> {
        RowCacheKey(
            of: [.conversation(id, in: application, "participants")],
            aspect: Array("imported".utf8))
    }

    /// The number of positions at which hidden messages are read at once. A file has the messages of a conversation in
    /// the order of their positions.
    private static let hiddenAtOnce: Int64 = 1_024
}

extension ImportedViews {
    fileprivate static func cacheKey(
        of id: Conversation.ID, in application: Application.ID
    ) -> RowCacheKey<ImportedViews> {
        RowCacheKey(
            of: [
                .conversation(id, in: application, "participants"),
                .conversation(id, in: application, "receipts"),
                .allReceipts(of: id, in: application),
                .conversation(id, in: application, "hidden_messages"),
            ], aspect: Array("imported".utf8))
    }
}
