import Messaging
import SQL

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
        var head: SharedReads.MessageHead?
        var isHidden = false
        /// Whether it was sent since the catch-up began, at a position that the client does not want.
        var isBeforeWindow = false
        /// Whether it was read; otherwise the page has no space for it.
        var isRead = false
        var snapshot: MessageSnapshot?
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
        var owners: [ReceiptOwner] = []
        var announcements: [Announcement.ID] = []
        for change in changes {
            switch change.object {
            case .identity(let user): users.insert(user)
            case .unfollowed(let user): unfollowed.insert(user)
            case .receipts(let id, let user) where found.views[id] != nil:
                owners.append(ReceiptOwner(conversation: id, user: user))
            case .announcement(let id): announcements.append(id)
            default: break
            }
        }
        if !users.isEmpty { found.identities = try seen.identities(of: users) }
        found.followed = try seen.followed(among: unfollowed)
        try seen.shared.readReceipts(of: owners)
        for owner in owners { found.receipts[owner] = seen.shared.receipts(of: owner) }
        found.announcements = try seen.announcements(announcements)
    }

    private mutating func readMessages(
        of changes: [FeedChange], _ catchUp: FeedCursor.CatchUp, into found: inout FeedObjects
    ) throws {
        for change in changes {
            switch change.object {
            case .message(let id, let conversation, _, _) where seen.view(of: conversation) != nil:
                found.messages[id, default: .init()].shared = change.position
            case .viewedMessage(let id, _):
                found.messages[id, default: .init()].own = change.position
            default: break
            }
        }
        guard !found.messages.isEmpty else { return }
        let ids = Array(found.messages.keys)
        try seen.shared.readHeads(of: ids)
        let heads = ids.compactMap { id in seen.shared.head(of: id) }
        try seen.readViews(of: heads.map(\.conversation))
        for head in heads { found.views[head.conversation] = seen.view(of: head.conversation) }
        try seen.shared.readOwnChanges(ids.map(ownMessage))
        for id in ids {
            if let head = seen.shared.head(of: id) {
                found.messages[id]?.head = head
                found.messages[id]?.shared = head.changed
            }
            if let own = seen.shared.ownChange(ownMessage(id)) { found.messages[id]?.own = own }
            found.messages[id]?.isHidden = seen.shared.isHidden(id, from: user)
        }
        try readSnapshots(of: changes, catchUp, into: &found)
    }

    private func ownMessage(_ id: Message.ID) -> SharedReads.OwnMessage {
        SharedReads.OwnMessage(message: id, user: user)
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
        case shown(SharedReads.MessageHead)
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

    /// The message that the change may show.
    var message: Message.ID? {
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
