import Messaging
import SQL

// Reads conversations and their windows.
extension FeedReader {
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
                    AND \(seen.isShown)
                ORDER BY m.position LIMIT 1
                """
            ) { row in try row.position(0) }
            if let first { return first }
        }
        return nil
    }

    /// The lowest position above all messages that were sent up to an event, as far as it is at least `bottom`.
    private func firstPosition(
        after event: LogPosition, in view: FeedView, from bottom: Position
    ) throws -> Position {
        try seen.shared.lastSent(
            in: SharedReads.SentRange(
                conversation: view.id, bottom: bottom, top: view.top, event: event)
        )?.next ?? bottom
    }

    /// Conversations as the feed shows them, with their approximate sizes.
    ///
    /// - Parameter base: The position that a client has received everything up to; `nil` for a client that receives the
    ///   whole window.
    mutating func conversations(
        _ ids: [(id: Conversation.ID, base: LogPosition?)], _ history: FeedHistory
    ) throws -> [Conversation.ID: (conversation: FeedConversation, weight: Int64)] {
        try seen.readViews(of: ids.map(\.id))
        let shown = ids.filter { id, _ in seen.view(of: id) != nil }
        guard !shown.isEmpty else { return [:] }
        let rows = try seen.rows(of: shown.map(\.id))
        try seen.shared.readParticipants(shownBy: rows)
        try seen.shared.readAliases(of: shown.map(\.id))
        let found = Dictionary(rows.map { row in (row.id, row) }) { first, _ in first }
        var conversations: [Conversation.ID: (conversation: FeedConversation, weight: Int64)] = [:]
        for (id, base) in shown {
            guard let view = seen.view(of: id), let row = found[id] else { continue }
            let start = try windowStart(of: view, history)
            let from = try base.map { base in
                try firstPosition(after: base, in: view, from: start)
            }
            let conversation = FeedConversation(
                view: row.view(seen.shared.participants(of: id)), lastMessage: row.lastMessage,
                aliases: seen.shared.aliases(of: id).sorted(), top: view.top,
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
        try seen.readViews(of: [id])
        guard let view = seen.view(of: id) else { return nil }
        var last = Position.start
        switch place {
        case .messages(let position): last = position
        case .receipts(let user):
            if let next = try addReceipts(of: view, after: user, through: bound, cursor: cursor) {
                return next
            }
        }
        let start = try windowStart(of: view, history)
        // What has changed for the user alone comes as a change of its own, too.
        let isUnchanged: SQL =
            bound == LogPosition(.max)
            ? "1 = 1"
            : """
            NOT EXISTS (
                SELECT 1 FROM touched t
                WHERE t.application = m.application AND t.stream = \(Array(user.text.utf8))
                    AND t.kind = \(TouchedKind.viewedMessage.rawValue) AND t.id = m.id
                    AND t.position > \(bound)
            )
            """
        while true {
            let heads = try transaction.rows(
                """
                SELECT m.id, m.position, m.weight FROM messages m
                WHERE m.application = \(application) AND m.conversation = \(id)
                    AND m.position BETWEEN \(max(start, last.next)) AND \(view.top)
                    AND COALESCE(m.changed, m.event) <= \(bound) AND \(seen.isShown) AND \(isUnchanged)
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
            let snapshots = try seen.snapshots(
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
            let owners = users.map { user in ReceiptOwner(conversation: view.id, user: user) }
            try seen.shared.readReceipts(of: owners)
            for ((bytes, user), owner) in zip(zip(found, users), owners) {
                let known = seen.shared.receipts(of: owner) ?? Receipts()
                guard
                    add(
                        .receipts(view.id, user, view.clipped(known)), weighing: 256,
                        cursor(.receipts(after: bytes)))
                else { return .receipts(after: last) }
                last = bytes
            }
        }
    }
}

extension UserID {
    /// The user whose id has these UTF-8 bytes.
    init?(_ bytes: [UInt8]) {
        self.init(stored: String(decoding: bytes, as: UTF8.self))
    }
}
