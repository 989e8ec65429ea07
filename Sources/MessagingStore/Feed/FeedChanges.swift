import Messaging
import SQL

/// An object of a user's feed that an event has changed.
struct FeedChange {
    enum Object {
        case conversation(Conversation.ID)
        /// The window of a conversation that the user may see since the event.
        case window(Conversation.ID)
        case receipts(Conversation.ID, UserID)
        case identity(UserID)
        /// A user that is not followed any more.
        case unfollowed(UserID)
        case announcement(Announcement.ID)
        /// A message of a conversation; the flag tells whether it is deleted.
        case message(Message.ID, in: Conversation.ID, at: Position, isGone: Bool)
        /// A message whose view by the user has changed; the flag tells whether it is hidden.
        case viewedMessage(Message.ID, isGone: Bool)
    }

    let position: LogPosition
    let object: Object

    /// The place among the objects of the event.
    var order: FeedOrder {
        switch object {
        case .conversation(let id): FeedOrder(stage: .conversation, id: id.bytes)
        case .window(let id): FeedOrder(stage: .window, id: id.bytes)
        case .receipts(let id, let user):
            FeedOrder(stage: .receipts, id: id.bytes + Array(user.text.utf8))
        case .identity(let user), .unfollowed(let user):
            FeedOrder(stage: .identity, id: Array(user.text.utf8))
        case .announcement(let id): FeedOrder(stage: .announcement, id: id.bytes)
        case .message(let id, _, _, _), .viewedMessage(let id, _):
            FeedOrder(stage: .message, id: id.bytes)
        }
    }
}

/// What the objects of changes are now.
struct FeedObjects {
    var views: [Conversation.ID: FeedView] = [:]
    var marks: [Conversation.ID: FeedMarks] = [:]
    /// The conversations that are to be shown, with their approximate sizes.
    fileprivate var conversations: [Conversation.ID: (FeedConversation, weight: Int64)] = [:]
    /// The conversations that aliases refer to.
    fileprivate var winners: [Conversation.ID: Conversation.ID] = [:]
    /// The conversations that were merged into others since the catch-up began.
    fileprivate var merged: [Conversation.ID: [Conversation.ID]] = [:]
    fileprivate var receipts: [ReceiptOwner: Receipts] = [:]
    fileprivate var identities: [UserID: Identity] = [:]
    fileprivate var followed: Set<UserID> = []
    fileprivate var announcements: [Announcement.ID: AnnouncementView] = [:]
    fileprivate var messages: [Message.ID: MessageState] = [:]

    fileprivate struct MessageState {
        /// The latest change of the message in the stream of its conversation and in that of the user.
        var shared = LogPosition.start
        var own = LogPosition.start
        /// `nil` for one that does not exist any more.
        var head: MessageHead?
        var isHidden = false
        /// Whether it was sent since the catch-up began, at a position that the client does not want.
        var isBeforeWindow = false
        /// Whether it was read; otherwise the page has no space for it.
        var isRead = false
        var snapshot: MessageSnapshot?
    }

    fileprivate struct MessageHead {
        let conversation: Conversation.ID
        let position: Position
        let event: LogPosition
        let weight: Int64
    }
}

// Finding the changes.
extension FeedReader {
    /// What has changed after a position up to another, in the order of events and then of objects.
    func changes(
        after position: LogPosition, through bound: LogPosition
    ) throws -> [FeedChange] {
        let streamed = try transaction.rows(
            """
            SELECT t.position, t.kind, t.stream, t.id, t.gone_at, t.place FROM touched t
            WHERE t.application = \(application) AND t.stream = \(Array(user.text.utf8))
                AND t.position > \(position) AND t.position <= \(bound)
                AND t.kind >= \(TouchedKind.view.rawValue)
            UNION ALL
            SELECT t.position, t.kind, t.stream, t.id, t.gone_at, t.place
            FROM participants p
            JOIN touched t ON t.application = p.application AND t.stream = p.conversation
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND t.position > \(position) AND t.position <= \(bound)
                AND t.kind < \(TouchedKind.alias.rawValue)
                AND (p.left_after IS NULL OR t.place <= p.left_after)
            UNION ALL
            SELECT c.changed, \(TouchedKind.conversation.rawValue), c.id, c.id, 0, 0
            FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND p.left_after IS NULL AND c.changed > \(position) AND c.changed <= \(bound)
            UNION ALL
            SELECT m.changed, \(TouchedKind.message.rawValue), m.conversation, m.id, 0, m.position
            FROM participants p
            JOIN messages m
                ON m.application = p.application AND m.conversation = p.conversation
            WHERE p.application = \(application) AND p.user_id = \(user) AND p.state = 'shown'
                AND m.changed > \(position) AND m.changed <= \(bound)
                AND (p.left_after IS NULL OR m.position <= p.left_after)
            """
        ) { row in try self.changes(of: row) }.flatMap(\.self)
        let identities = try transaction.rows(
            """
            SELECT user_id, event FROM (
                SELECT i.user_id, CASE
                    WHEN f.event < i.identity_event THEN i.identity_event ELSE f.event
                END AS event
                FROM following f
                JOIN identities i ON i.application = f.application AND i.user_id = f.followed
                WHERE f.application = \(application) AND f.follower = \(user)
                    AND f.followed <> f.follower
                UNION ALL
                SELECT user_id, identity_event FROM identities
                WHERE application = \(application) AND user_id = \(user)
            ) u
            WHERE event > \(position) AND event <= \(bound)
            """
        ) { row in
            FeedChange(
                position: LogPosition(try row.int64(1)), object: .identity(try row.user(0)))
        }
        let announcements = try transaction.rows(
            """
            SELECT announcement, event FROM announcement_recipients
            WHERE application = \(application) AND user_id = \(user)
                AND event > \(position) AND event <= \(bound)
            """
        ) { row in
            FeedChange(
                position: LogPosition(try row.int64(1)), object: .announcement(try row.id(0)))
        }
        let sorted = (streamed + identities + announcements).map { change in
            (change, change.order)
        }.sorted { left, right in
            (left.0.position, left.1) < (right.0.position, right.1)
        }
        // One event may touch a conversation in several ways.
        var changes: [FeedChange] = []
        var last: (LogPosition, FeedOrder)?
        for (change, order) in sorted {
            if let last, last == (change.position, order) { continue }
            changes.append(change)
            last = (change.position, order)
        }
        return changes
    }

    /// The changes that a row of `touched` means, or of a query that has its columns.
    private func changes(of row: borrowing Row) throws -> [FeedChange] {
        let position = LogPosition(try row.int64(0))
        guard let kind = TouchedKind(rawValue: try row.int64(1)) else {
            throw StoreFault.unreadable("touched.kind")
        }
        let isGone = try row.int64(4) > 0
        let objects: [FeedChange.Object] =
            switch kind {
            case .conversation, .counts, .view: [.conversation(try row.id(3))]
            case .window: [.conversation(try row.id(3)), .window(try row.id(3))]
            case .viewWindow:
                isGone
                    ? [.conversation(try row.id(3))]
                    : [.conversation(try row.id(3)), .window(try row.id(3))]
            case .message:
                [
                    .message(
                        try row.id(3), in: try row.id(2), at: try row.position(5), isGone: isGone)
                ]
            case .receipts: try receiptChanges(of: try row.blob(3), in: try row.id(2))
            case .viewedMessage: [.viewedMessage(try row.id(3), isGone: isGone)]
            case .unfollowed: [.unfollowed(try user(try row.blob(3)))]
            case .alias: []
            }
        return objects.map { object in FeedChange(position: position, object: object) }
    }

    /// The user's own receipts change the unread count of the conversation too.
    private func receiptChanges(
        of bytes: [UInt8], in conversation: Conversation.ID
    ) throws -> [FeedChange.Object] {
        let owner = try user(bytes)
        let change = FeedChange.Object.receipts(conversation, owner)
        return owner == user ? [.conversation(conversation), change] : [change]
    }

    private func user(_ bytes: [UInt8]) throws -> UserID {
        guard let user = UserID(bytes) else { throw StoreFault.unreadable("touched.id") }
        return user
    }
}

// Reading the objects.
extension FeedReader {
    /// Reads what the objects of changes are now, in a constant number of statements.
    mutating func resolve(
        _ changes: [FeedChange], _ catchUp: FeedCursor.CatchUp
    ) throws -> FeedObjects {
        var found = FeedObjects()
        let named = Set(changes.compactMap(\.object.conversation))
        try seen.readViews(of: named)
        found.marks = try seen.marks(of: changes.compactMap(\.object.shownConversation))
        try readMessages(of: changes, catchUp, into: &found)
        for id in named { found.views[id] = seen.view(of: id) }
        try readConversations(of: changes, catchUp, into: &found)
        try readUsers(of: changes, into: &found)
        return found
    }

    private mutating func readConversations(
        of changes: [FeedChange], _ catchUp: FeedCursor.CatchUp, into found: inout FeedObjects
    ) throws {
        var wanted: [(id: Conversation.ID, base: LogPosition?)] = []
        var gone: Set<Conversation.ID> = []
        for change in changes {
            guard case .conversation(let id) = change.object else { continue }
            if found.views[id] == nil {
                gone.insert(id)
            } else if found.isShown(id, at: change.position, catchUp) {
                let isNew = found.marks[id]?.window ?? .start > catchUp.base
                wanted.append((id, isNew ? nil : catchUp.base))
            }
        }
        found.conversations = try conversations(wanted, catchUp.history)
            .mapValues { entry in (entry.conversation, entry.weight) }
        found.winners = try transaction.winners(of: gone, in: application)
        let unseen = Set(found.winners.values)
        try seen.readViews(of: unseen)
        for id in unseen { found.views[id] = seen.view(of: id) }
        guard !gone.isEmpty else { return }
        let merged = try transaction.rows(
            """
            SELECT stream, id FROM touched
            WHERE application = \(application) AND stream \(in: gone)
                AND kind = \(TouchedKind.alias.rawValue) AND position > \(catchUp.base)
            """
        ) { row in (try row.id(0) as Conversation.ID, try row.id(1) as Conversation.ID) }
        found.merged = Dictionary(grouping: merged, by: \.0).mapValues { $0.map(\.1) }
    }

    private func readUsers(of changes: [FeedChange], into found: inout FeedObjects) throws {
        var (users, unfollowed): (Set<UserID>, Set<UserID>) = ([], [])
        var owners: [(conversation: Conversation.ID, user: UserID)] = []
        var announcements: [Announcement.ID] = []
        for change in changes {
            switch change.object {
            case .identity(let user): users.insert(user)
            case .unfollowed(let user): unfollowed.insert(user)
            case .receipts(let id, let user) where found.views[id] != nil:
                owners.append((id, user))
            case .announcement(let id): announcements.append(id)
            default: break
            }
        }
        if !users.isEmpty { found.identities = try seen.identities(of: users) }
        found.followed = try seen.followed(among: unfollowed)
        found.receipts = try seen.receipts(of: owners)
        found.announcements = try seen.announcements(announcements)
    }

    private mutating func readMessages(
        of changes: [FeedChange], _ catchUp: FeedCursor.CatchUp, into found: inout FeedObjects
    ) throws {
        var shared: [Message.ID] = []
        for change in changes {
            switch change.object {
            case .message(let id, let conversation, _, _) where seen.view(of: conversation) != nil:
                shared.append(id)
                found.messages[id, default: .init()].shared = change.position
            case .viewedMessage(let id, _):
                found.messages[id, default: .init()].own = change.position
            default: break
            }
        }
        guard !found.messages.isEmpty else { return }
        try readHeads(into: &found)
        let heads = found.messages.compactMapValues(\.head)
        try seen.readViews(of: heads.values.map(\.conversation))
        for head in heads.values {
            found.views[head.conversation] = seen.view(of: head.conversation)
        }
        try readOwnChanges(of: shared, into: &found)
        try readHidden(heads, into: &found)
        try readSnapshots(of: changes, catchUp, into: &found)
    }

    private func readHeads(into found: inout FeedObjects) throws {
        let heads = try transaction.rows(
            """
            SELECT id, conversation, position, event, weight, changed FROM messages
            WHERE application = \(application) AND id \(in: found.messages.keys)
            """
        ) { row in
            (
                id: try row.id(0) as Message.ID,
                head: FeedObjects.MessageHead(
                    conversation: try row.id(1), position: try row.position(2),
                    event: LogPosition(try row.int64(3)), weight: try row.int64(4)),
                changed: LogPosition(try row.int64(5))
            )
        }
        for (id, head, changed) in heads {
            found.messages[id]?.head = head
            found.messages[id]?.shared = changed
        }
    }

    /// Reads the changes of messages in the stream of the user.
    private func readOwnChanges(of ids: [Message.ID], into found: inout FeedObjects) throws {
        let inOwn = try transaction.rows(
            """
            SELECT id, position FROM touched
            WHERE application = \(application) AND stream = \(Array(user.text.utf8))
                AND kind = \(TouchedKind.viewedMessage.rawValue) AND id \(in: ids)
            """
        ) { row in (try row.id(0) as Message.ID, LogPosition(try row.int64(1))) }
        for (id, position) in inOwn { found.messages[id]?.own = position }
    }

    private func readHidden(
        _ heads: [Message.ID: FeedObjects.MessageHead], into found: inout FeedObjects
    ) throws {
        let heads = Array(heads)
        guard !heads.isEmpty else { return }
        let hidden = try transaction.rows(
            """
            SELECT h.conversation, h.position
            FROM \(table: "named", of: [
                .blobs(heads.map(\.value.conversation.bytes)),
                .integers(heads.map(\.value.position.number)),
            ])
            JOIN hidden_messages h ON h.application = \(application)
                AND h.conversation = named.column1 AND h.position = named.column2
                AND h.user_id = \(user)
            """
        ) { row in HiddenPlace(conversation: try row.id(0), position: try row.position(1)) }
        let places = Set(hidden)
        for (id, head) in heads {
            found.messages[id]?.isHidden = places.contains(
                HiddenPlace(conversation: head.conversation, position: head.position))
        }
    }

    private struct HiddenPlace: Hashable {
        let conversation: Conversation.ID
        let position: Position
    }

    /// Reads the messages to be shown, as many as the page has space for.
    private mutating func readSnapshots(
        of changes: [FeedChange], _ catchUp: FeedCursor.CatchUp, into found: inout FeedObjects
    ) throws {
        var wanted: [Message.ID] = []
        var (probe, free) = (budget, limit - entries.count)
        for change in changes {
            guard let id = change.object.message,
                case .shown(let head) = found.state(of: change)
            else { continue }
            // The client may have a message that has changed during the catch-up.
            if head.event > catchUp.base, change.position <= catchUp.end,
                let view = seen.view(of: head.conversation),
                try head.position < windowStart(of: view, catchUp.history)
            {
                found.messages[id]?.isBeforeWindow = true
                continue
            }
            guard free > 0, probe.admits(head.weight) else { break }
            free -= 1
            wanted.append(id)
            found.messages[id]?.isRead = true
        }
        for (id, snapshot) in try seen.snapshots(of: wanted) {
            found.messages[id]?.snapshot = snapshot
        }
    }
}

// Deciding what a change shows.
extension FeedObjects {
    /// Whether a conversation, which the user sees, is shown with the change of a position: with the one that brings its
    /// window, and otherwise with the last one.
    fileprivate func isShown(
        _ id: Conversation.ID, at position: LogPosition, _ catchUp: FeedCursor.CatchUp
    ) -> Bool {
        guard let marks = marks[id] else { return false }
        let isNew = marks.window > catchUp.base
        if isNew, position == marks.window { return true }
        return position == marks.last && (!isNew || position > catchUp.end)
    }

    fileprivate enum State {
        case shown(MessageHead)
        case gone
        /// Another change shows the message, or the user has never seen it.
        case skipped
    }

    /// What the change of a message shows.
    fileprivate func state(of change: FeedChange) -> State {
        switch change.object {
        case .message(let id, let conversation, _, let isGone):
            guard let view = views[conversation], let message = messages[id] else {
                return .skipped
            }
            if isGone { return .gone }
            guard let head = message.head, !message.isHidden, view.sees(head.position),
                message.own <= change.position
            else { return .skipped }
            return .shown(head)
        case .viewedMessage(let id, let isGone):
            guard let message = messages[id], let head = message.head,
                let view = views[head.conversation]
            else { return .skipped }
            if isGone { return message.isHidden ? .gone : .skipped }
            guard !message.isHidden, view.sees(head.position), message.shared < change.position
            else { return .skipped }
            return .shown(head)
        default: return .skipped
        }
    }

    /// The items of a change with their approximate sizes; `nil` if the page has no space for them.
    func items(
        of change: FeedChange, _ catchUp: FeedCursor.CatchUp
    ) -> [(item: FeedItem, weight: Int64)]? {
        switch change.object {
        case .conversation(let id): return conversation(id, at: change.position, catchUp)
        case .receipts(let id, let owner):
            guard let view = views[id] else { return [] }
            let known = receipts[ReceiptOwner(conversation: id, user: owner)] ?? Receipts()
            return [(.receipts(id, owner, view.clipped(known)), 256)]
        case .identity(let user): return [(.identity(user, identities[user]), 1024)]
        case .unfollowed(let user):
            return followed.contains(user) ? [] : [(.identity(user, nil), 0)]
        case .announcement(let id):
            return [(.announcement(id, announcements[id]), announcements[id]?.weight ?? 0)]
        case .message(let id, _, _, _), .viewedMessage(let id, _): return message(id, change)
        case .window: return []
        }
    }

    private func conversation(
        _ id: Conversation.ID, at position: LogPosition, _ catchUp: FeedCursor.CatchUp
    ) -> [(item: FeedItem, weight: Int64)] {
        if views[id] != nil {
            guard isShown(id, at: position, catchUp), let found = conversations[id] else {
                return []
            }
            return [(.conversation(id, found.0), found.weight)]
        }
        // A client moves what it has of a merged conversation to the winner, which names it among its aliases.
        guard marks[id]?.goneSince == position,
            winners[id].flatMap({ winner in views[winner] }) == nil
        else { return [] }
        return ([id] + (merged[id] ?? [])).map { id in
            (item: FeedItem.conversation(id, nil), weight: Int64(0))
        }
    }

    private func message(
        _ id: Message.ID, _ change: FeedChange
    ) -> [(item: FeedItem, weight: Int64)]? {
        switch state(of: change) {
        case .skipped: return []
        case .gone: return [(.message(id, nil), 0)]
        case .shown(let head):
            guard let message = messages[id], !message.isBeforeWindow else { return [] }
            guard message.isRead else { return nil }
            guard let snapshot = message.snapshot else { return [] }
            return [(.message(id, snapshot), head.weight)]
        }
    }
}

extension FeedChange.Object {
    /// The conversation that must be in the user's view.
    fileprivate var conversation: Conversation.ID? {
        switch self {
        case .conversation(let id), .window(let id), .receipts(let id, _),
            .message(_, let id, _, _):
            id
        case .identity, .unfollowed, .announcement, .viewedMessage: nil
        }
    }

    /// The conversation that the change may show.
    fileprivate var shownConversation: Conversation.ID? {
        switch self {
        case .conversation(let id), .window(let id): id
        default: nil
        }
    }

    fileprivate var message: Message.ID? {
        switch self {
        case .message(let id, _, _, _), .viewedMessage(let id, _): id
        default: nil
        }
    }
}

extension AnnouncementView {
    /// The approximate size in a response, in bytes.
    var weight: Int64 {
        announcement.parts.reduce(0) { sum, part in
            guard case .inline(let bytes) = part.body else { return sum }
            return sum + Int64(bytes.count) + MessagePart.frame
        }
    }
}
