import Messaging
import SQL

/// A conversation that the user of a feed sees.
struct FeedView {
    let id: Conversation.ID
    let participant: Participant
    /// The last position of the conversation.
    let last: Position

    /// The highest position within the bounds of the view.
    var top: Position { participant.leftAfter ?? last }

    /// The lowest position within the bounds of the view.
    var bottom: Position { participant.clearedTo.next }

    func sees(_ position: Position) -> Bool { participant.sees(position) }

    /// Receipts without the positions that the user does not see.
    func clipped(_ receipts: Receipts) -> Receipts {
        guard bottom <= top else { return Receipts() }
        let range = IntervalSet(bottom.number...top.number)
        return Receipts(
            delivered: receipts.delivered.intersection(range),
            read: receipts.read.intersection(range))
    }
}

/// When a conversation has changed for the user of a feed.
struct FeedMarks {
    /// The position since which the user sees the conversation as they see it now; its window comes with this event.
    var window = LogPosition.start
    /// The position of its last change.
    var last = LogPosition.start
    /// The position since which the user alone sees it, before or after all; `nil` for none.
    var ownWindow: LogPosition?
    /// The position of the event since which the user does not see it any more; `nil` if they see it.
    var goneSince: LogPosition?

    fileprivate mutating func note(_ position: LogPosition, isWindow: Bool) {
        last = max(last, position)
        if isWindow { window = max(window, position) }
    }
}

// Reads conversations and their windows.
extension FeedReader {
    /// Reads which of the conversations the user sees.
    mutating func readViews(of ids: some Sequence<Conversation.ID>) throws {
        let missing = Set(ids).filter { id in views[id] == nil }
        guard !missing.isEmpty else { return }
        let found = try transaction.rows(
            """
            SELECT \(raw: Participant.columns), p.conversation, c.last_position
            FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.user_id = \(user)
                AND p.conversation \(in: missing) AND p.state = 'shown'
            """
        ) { row in
            FeedView(
                id: try row.id(6), participant: try Participant(row), last: try row.position(7))
        }
        for id in missing { views[id] = .some(nil) }
        for view in found { views[view.id] = view }
    }

    /// The conversation as far as the user sees it.
    func view(of id: Conversation.ID) -> FeedView? { views[id] ?? nil }

    /// When conversations have changed for the user, in two statements.
    func marks(of ids: [Conversation.ID]) throws -> [Conversation.ID: FeedMarks] {
        guard !ids.isEmpty else { return [:] }
        var marks: [Conversation.ID: FeedMarks] = [:]
        let ids = Array(Set(ids))
        let shared = try transaction.rows(
            """
            SELECT t.stream, t.kind, t.position
            FROM \(table: "named", of: [.blobs(ids.map(\.bytes))])
            JOIN touched t ON t.application = \(application) AND t.stream = named.column1
                AND t.kind \(in: .integers(Self.sharedKinds)) AND t.id = named.column1
            UNION ALL
            SELECT t.stream, t.kind, t.position FROM touched t
            WHERE t.application = \(application) AND t.stream \(in: ids)
                AND t.kind = \(TouchedKind.receipts.rawValue)
                AND t.id = \(Array(user.text.utf8))
            UNION ALL
            SELECT id, \(TouchedKind.conversation.rawValue), changed FROM conversations
            WHERE application = \(application) AND id \(in: ids)
            """
        ) { row in (try row.id(0) as Conversation.ID, try row.int64(1), try row.int64(2)) }
        for (id, kind, position) in shared {
            let isFormer = view(of: id)?.participant.isFormer == true
            if isFormer, kind == TouchedKind.conversation.rawValue { continue }
            var mark = marks[id] ?? FeedMarks()
            mark.note(LogPosition(position), isWindow: kind == TouchedKind.window.rawValue)
            marks[id] = mark
        }
        let own = try transaction.rows(
            """
            SELECT id, kind, position, gone_at FROM touched
            WHERE application = \(application) AND stream = \(Array(user.text.utf8))
                AND kind \(in: .integers([TouchedKind.view, .viewWindow].map(\.rawValue)))
                AND id \(in: ids)
            """
        ) { row in
            (
                id: try row.id(0) as Conversation.ID, kind: try row.int64(1),
                position: LogPosition(try row.int64(2)), isGone: try row.int64(3) > 0
            )
        }
        for (id, kind, position, isGone) in own {
            var mark = marks[id] ?? FeedMarks()
            let isWindow = kind == TouchedKind.viewWindow.rawValue
            mark.note(position, isWindow: isWindow)
            if isWindow, isGone { mark.goneSince = position }
            if isWindow, !isGone { mark.ownWindow = position }
            marks[id] = mark
        }
        return marks
    }

    private static let sharedKinds = [TouchedKind.counts, .window].map(\.rawValue)

    /// The position from which on messages of a view are wanted.
    ///
    /// It never falls while messages are sent, read and deleted, so a client that has received an answer in several pages
    /// misses nothing from the last one's on. For this reason it counts positions, also those of deleted messages.
    mutating func windowStart(of view: FeedView, _ history: FeedHistory) throws -> Position {
        if let known = windowStarts[view.id] { return known }
        let start =
            switch history {
            case .all: view.bottom
            case .newest(let count):
                max(view.bottom, Position(view.top.number - min(count, FeedHistory.limit) + 1))
            case .unread:
                max(view.bottom, min(try firstUnread(in: view) ?? view.top, view.top))
            }
        windowStarts[view.id] = start
        return start
    }

    /// The position of the first unread message of a view; `nil` if there is none.
    private func firstUnread(in view: FeedView) throws -> Position? {
        let owner = ReceiptOwner(conversation: view.id, user: user)
        let participant = view.participant
        let unread = participant.stay(upTo: view.last)
            .intersection(participant.range(upTo: view.last))
            .subtracting(try transaction.receipts(of: owner, in: application).read)
        for interval in unread.intervals {
            let first = try transaction.first(
                """
                SELECT m.position FROM messages m
                WHERE m.application = \(application) AND m.conversation = \(view.id)
                    AND m.position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)
                    AND (m.sender_user IS NULL OR m.sender_user <> \(user))
                    AND \(isShown)
                ORDER BY m.position LIMIT 1
                """
            ) { row in try row.position(0) }
            if let first { return first }
        }
        return nil
    }

    /// Whether a message `m` is not hidden from the user.
    var isShown: SQL {
        """
        NOT EXISTS (
            SELECT 1 FROM hidden_messages h
            WHERE h.application = m.application AND h.conversation = m.conversation
                AND h.position = m.position AND h.user_id = \(user)
        )
        """
    }

    /// The lowest position above all messages that were sent up to an event, as far as it is at least `bottom`.
    private func firstPosition(
        after event: LogPosition, in view: FeedView, from bottom: Position
    ) throws -> Position {
        let last = try transaction.first(
            """
            SELECT position FROM messages
            WHERE application = \(application) AND conversation = \(view.id)
                AND position BETWEEN \(bottom) AND \(view.top) AND event <= \(event)
            ORDER BY position DESC LIMIT 1
            """
        ) { row in try row.position(0) }
        return last?.next ?? bottom
    }

    /// Conversations as the feed shows them, with their approximate sizes.
    ///
    /// - Parameter base: The position that a client has received everything up to; `nil` for a client that receives the
    ///   whole window.
    mutating func conversations(
        _ ids: [(id: Conversation.ID, base: LogPosition?)], _ history: FeedHistory
    ) throws -> [Conversation.ID: (conversation: FeedConversation, weight: Int64)] {
        try readViews(of: ids.map(\.id))
        let shown = ids.filter { id, _ in view(of: id) != nil }
        guard !shown.isEmpty else { return [:] }
        let rows = try transaction.viewRows(
            of: shown.map(\.id), for: user, in: application)
        let aliases = try transaction.aliases(of: shown.map(\.id), in: application)
        let found = Dictionary(
            zip(
                rows, try transaction.views(rows, seenBy: user, in: application, hasLast: false)
            ).map { row, view in (row.id, (row, view)) }
        ) { first, _ in first }
        var conversations: [Conversation.ID: (conversation: FeedConversation, weight: Int64)] = [:]
        for (id, base) in shown {
            guard let view = view(of: id), let (row, shown) = found[id] else { continue }
            let start = try windowStart(of: view, history)
            let from = try base.map { base in
                try firstPosition(after: base, in: view, from: start)
            }
            let conversation = FeedConversation(
                view: shown, lastMessage: row.lastMessage,
                aliases: (aliases[id] ?? []).sorted(), top: view.top,
                windowFrom: max(start, from ?? start), clearedTo: view.participant.clearedTo)
            conversations[id] = (conversation, row.weight)
        }
        return conversations
    }

    /// Adds the receipts and messages of the window of a conversation.
    ///
    /// - Parameters:
    ///   - bound: Only objects that have not changed after this position.
    ///   - cursor: Makes the cursor of what precedes a place.
    /// - Returns: The place that the page has no space for; `nil` if the window is complete.
    mutating func addWindow(
        of id: Conversation.ID, from place: FeedCursor.WindowPlace, through bound: LogPosition,
        _ history: FeedHistory, cursor: (FeedCursor.WindowPlace) -> FeedCursor
    ) throws -> FeedCursor.WindowPlace? {
        try readViews(of: [id])
        guard let view = view(of: id) else { return nil }
        var last = Position.start
        switch place {
        case .messages(let position): last = position
        case .receipts(let user):
            if let next = try addReceipts(of: view, after: user, through: bound, cursor: cursor) {
                return next
            }
        }
        let start = try windowStart(of: view, history)
        while true {
            let heads = try transaction.rows(
                """
                SELECT m.id, m.position, m.weight FROM messages m
                WHERE m.application = \(application) AND m.conversation = \(id)
                    AND m.position BETWEEN \(max(start, last.next)) AND \(view.top)
                    AND m.changed <= \(bound) AND \(isShown)
                ORDER BY m.position LIMIT \(min(rest + 1, Self.messagesAtOnce))
                """
            ) { row in
                (
                    id: try row.id(0) as Message.ID, position: try row.position(1),
                    weight: try row.int64(2)
                )
            }
            guard !heads.isEmpty else { return nil }
            var probe = budget
            let snapshots = try snapshots(
                of: heads.prefix { head in probe.admits(head.weight) }.map(\.id))
            for head in heads {
                guard let snapshot = snapshots[head.id],
                    add(
                        .message(head.id, snapshot), weighing: head.weight,
                        cursor(.messages(after: head.position)))
                else { return .messages(after: last) }
                last = head.position
            }
        }
    }

    private static let messagesAtOnce = 256

    private mutating func addReceipts(
        of view: FeedView, after user: [UInt8], through bound: LogPosition,
        cursor: (FeedCursor.WindowPlace) -> FeedCursor
    ) throws -> FeedCursor.WindowPlace? {
        var last = user
        while true {
            let found = try transaction.rows(
                """
                SELECT id FROM touched
                WHERE application = \(application) AND stream = \(view.id)
                    AND kind = \(TouchedKind.receipts.rawValue) AND id > \(last)
                    AND position <= \(bound)
                ORDER BY id LIMIT \(min(rest + 1, Self.messagesAtOnce))
                """
            ) { row in try row.blob(0) }
            guard !found.isEmpty else { return nil }
            let users = found.compactMap { bytes in UserID(bytes) }
            let receipts = try receipts(of: users.map { user in (view.id, user) })
            for (bytes, user) in zip(found, users) {
                let known = receipts[ReceiptOwner(conversation: view.id, user: user)] ?? Receipts()
                guard
                    add(
                        .receipts(view.id, user, view.clipped(known)), weighing: 256,
                        cursor(.receipts(after: bytes)))
                else { return .receipts(after: last) }
                last = bytes
            }
        }
    }

    /// The receipts of participants, in one statement.
    func receipts(
        of owners: [(conversation: Conversation.ID, user: UserID)]
    ) throws -> [ReceiptOwner: Receipts] {
        guard !owners.isEmpty else { return [:] }
        let found = try transaction.rows(
            """
            SELECT r.delivered, r.read, r.conversation, r.user_id
            FROM \(table: "named", of: [
                .blobs(owners.map(\.conversation.bytes)), .texts(owners.map(\.user.text)),
            ])
            JOIN receipts r ON r.application = \(application)
                AND r.conversation = named.column1 AND r.user_id = named.column2
            """
        ) { row in
            (ReceiptOwner(conversation: try row.id(2), user: try row.user(3)), try Receipts(row))
        }
        return Dictionary(found) { first, _ in first }
    }

    /// Messages as the user sees them.
    func snapshots(of ids: [Message.ID]) throws -> [Message.ID: MessageSnapshot] {
        let messages = try transaction.messages(ids, in: application)
        let snapshots = try transaction.snapshots(
            of: Array(messages.values), seenBy: .user(user), in: application)
        return Dictionary(snapshots.map { ($0.message.id, $0) }) { first, _ in first }
    }

    /// The identities of users; of a user without one, its id alone.
    func identities(of users: some Sequence<UserID>) throws -> [UserID: Identity] {
        Dictionary(
            try transaction.users(Set(users), in: application).map { ($0.id, $0.identity) }
        ) { first, _ in first }
    }
}

extension UserID {
    /// The user whose id has these UTF-8 bytes.
    init?(_ bytes: [UInt8]) {
        self.init(stored: String(decoding: bytes, as: UTF8.self))
    }
}
