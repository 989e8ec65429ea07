import Messaging
import SQL

/// Events that have just been committed, and what they change for the users that they concern.
///
/// What its users need is read for all of them at once: the objects once, and what differs between users with a few
/// statements. Then the same readers as for a user that catches up make what each user is given.
struct LiveBatch {
    private let events: [RecordedEvent]
    private let start: LogPosition
    private let end: LogPosition
    private let epoch: String
    private let shared: SharedReads
    /// The users that see each of the conversations that the events name.
    private var viewers: [Conversation.ID: [FeedView]] = [:]
    private var changes: [UserID: [FeedChange]] = [:]

    /// - Parameter events: All events after `start` up to `end`, which is the end of the log.
    init(
        _ events: [RecordedEvent], after start: LogPosition, through end: LogPosition,
        epoch: String, sharing shared: SharedReads
    ) {
        self.events = events
        self.start = start
        self.end = end
        self.epoch = epoch
        self.shared = shared
    }

    private var transaction: Transaction { shared.transaction }
    private var application: Application.ID { shared.application }

    /// Reads what the readers of users are given.
    ///
    /// - Parameters:
    ///   - users: Users that only usual events of the batch concern.
    ///   - views: Which users see the conversations that the events name and that are not wide.
    ///   - wide: The wide ones among these conversations.
    mutating func read(
        for users: Set<UserID>, seeing views: [ViewKey], wide: Set<Conversation.ID>,
        wanting interests: [UserID: Set<FeedActivity.Interest>]
    ) throws -> [UserID: [FeedActivity.Interest: FeedActivity.Content]] {
        var users = users.filter { user in
            interests[user]?.contains { interest in interest != .position } == true
        }
        guard !users.isEmpty else { return [:] }
        var keys = views.filter { key in users.contains(key.user) }
        for id in wide { keys += users.map { user in ViewKey(conversation: id, user: user) } }
        for case .messageHidden(let payload) in events.map(\.event)
        where users.contains(payload.user) {
            keys.append(ViewKey(conversation: payload.conversation, user: payload.user))
        }
        try shared.readViews(keys)
        for key in Set(keys) {
            if let view = shared.view(key) { viewers[key.conversation, default: []].append(view) }
        }
        users.subtract(try appearances())
        let wanted = users.flatMap { user in interests[user] ?? [] }
        if wanted.contains(where: { interest in interest.isPage }) { try readChanges(of: users) }
        try prefetch(wide: wide)
        let ownEvents = eventsByUser()
        var contents: [UserID: [FeedActivity.Interest: FeedActivity.Content]] = [:]
        for user in users {
            for interest in interests[user] ?? [] {
                contents[user, default: [:]][interest] = try content(
                    interest, for: user, ownEvents[user] ?? [])
            }
        }
        return contents
    }

    private func content(
        _ interest: FeedActivity.Interest, for user: UserID, _ events: [RecordedEvent]
    ) throws -> FeedActivity.Content? {
        switch interest {
        case .position: return nil
        case .page(let history, let limit, let bytes):
            var reader = FeedReader(
                of: user, epoch: epoch, limit: limit, bytes: bytes, sharing: shared,
                knowing: changes[user] ?? [])
            return .page(try reader.read(after: start, to: end, history: history))
        case .changes:
            var reader = ChangeReader(of: user, sharing: shared)
            return .changes(try reader.read(events, after: start, through: end, to: end))
        }
    }

    /// The events that concern each user, in their order.
    private func eventsByUser() -> [UserID: [RecordedEvent]] {
        var found: [UserID: [RecordedEvent]] = [:]
        for recorded in events where recorded.event.isUsual {
            guard let id = recorded.event.namedConversation else { continue }
            for view in viewers[id] ?? [] {
                found[view.participant.userID, default: []].append(recorded)
            }
            // Of a conversation that the user does not see any more.
            if case .messageHidden(let payload) = recorded.event,
                shared.view(ViewKey(conversation: id, user: payload.user)) == nil
            {
                found[payload.user, default: []].append(recorded)
            }
        }
        return found
    }

    // MARK: - Reading for all users

    /// The users that have begun to see a conversation with one of the events, which changes more for them, such as whom
    /// they follow.
    private func appearances() throws -> Set<UserID> {
        let keys = viewers.values.flatMap { views in views.map(\.key) }
        try shared.readMarks(keys)
        return Set(
            keys.filter { key in
                shared.marks(key).contains { mark in
                    mark.position > start && (mark.kind == .window || mark.kind == .viewWindow)
                }
            }.map(\.user))
    }

    /// Reads the changes of the users' feeds.
    private mutating func readChanges(of users: Set<UserID>) throws {
        let touched = try transaction.rows(
            """
            SELECT position, kind, stream, id, gone_at, place FROM touched
            WHERE application = \(application) AND stream \(in: viewers.keys)
                AND position > \(start) AND position <= \(end)
                AND kind < \(TouchedKind.alias.rawValue)
            UNION ALL
            SELECT changed, \(TouchedKind.conversation.rawValue), id, id, 0, 0
            FROM conversations
            WHERE application = \(application) AND id \(in: viewers.keys)
                AND changed > \(start) AND changed <= \(end)
            UNION ALL
            SELECT changed, \(TouchedKind.message.rawValue), conversation, id, 0, position
            FROM messages
            WHERE application = \(application) AND conversation \(in: viewers.keys)
                AND changed > \(start) AND changed <= \(end)
            UNION ALL
            SELECT event, \(TouchedKind.message.rawValue), conversation, id, 0, position
            FROM messages
            WHERE application = \(application) AND id \(in: events.compactMap(\.event.sentMessage))
                AND changed IS NULL
            UNION ALL
            SELECT position, kind, stream, id, gone_at, place FROM touched
            WHERE application = \(application)
                AND stream \(in: .blobs(users.map { user in Array(user.text.utf8) }))
                AND position > \(start) AND position <= \(end)
                AND kind >= \(TouchedKind.view.rawValue)
            """
        ) { row in try TouchedRow(row) }
        let byStream = Dictionary(grouping: touched, by: \.stream)
        for (id, views) in viewers {
            guard let rows = byStream[id.bytes]?.filter({ row in row.isOfConversation }) else {
                continue
            }
            for view in views {
                let user = view.participant.userID
                for row in rows where row.concerns(view.participant) {
                    changes[user, default: []] += try row.changes(for: user)
                }
            }
        }
        for user in users {
            for row in byStream[Array(user.text.utf8)] ?? [] where !row.isOfConversation {
                changes[user, default: []] += try row.changes(for: user)
            }
            changes[user] = changes[user]?.inOrder()
        }
    }

    /// Reads the objects that the users need.
    private func prefetch(wide: Set<Conversation.ID>) throws {
        let views = viewers.values.flatMap(\.self)
        let keys = views.map(\.key)
        try shared.readRows(keys)
        if !changes.isEmpty {
            try shared.readParticipants(shownBy: keys.compactMap { key in shared.row(key) })
            try shared.readAliases(of: viewers.keys)
        }
        try prefetchMessages()
        var owners = wide.flatMap { id in
            (viewers[id] ?? []).map { view in
                ReceiptOwner(conversation: id, user: view.participant.userID)
            }
        }
        var intervals: Set<SharedReads.ReceiptInterval> = []
        for recorded in events {
            guard case .receiptsRecorded(let payload) = recorded.event,
                let views = viewers[payload.conversation]
            else { continue }
            owners.append(ReceiptOwner(conversation: payload.conversation, user: payload.user))
            guard !wide.contains(payload.conversation) else { continue }
            for view in views {
                intervals.formUnion(view.intervals(of: payload, at: recorded.position))
            }
        }
        try shared.readReceipts(of: owners)
        try shared.readMessages(in: intervals, limit: ChangeReader.statusLimit)
        try shared.readIdentities(of: Set(owners.map(\.user)))
    }

    private func prefetchMessages() throws {
        var ids = Set(events.compactMap(\.event.changedMessage))
        var own: Set<SharedReads.OwnMessage> = []
        for (user, changes) in changes {
            for id in changes.compactMap(\.object.message) {
                ids.insert(id)
                own.insert(SharedReads.OwnMessage(message: id, user: user))
            }
        }
        try shared.readHeads(of: ids)
        try shared.readOwnChanges(own)
        try shared.readMessages(
            ids.filter { id in
                shared.head(of: id).map { head in viewers[head.conversation] != nil } ?? false
            })
    }
}

extension FeedActivity.Interest {
    fileprivate var isPage: Bool { if case .page = self { true } else { false } }
}

extension Event {
    /// The message that the event sent; `nil` for another event.
    fileprivate var sentMessage: Message.ID? {
        if case .messageSent(let payload) = self { payload.message.id } else { nil }
    }

    /// The message that the event sent, changed or erased; `nil` for another event, also for one that deleted a message.
    var changedMessage: Message.ID? {
        switch self {
        case .messageSent(let payload): payload.message.id
        case .partsChanged(let payload): payload.message
        case .messageErased(let payload): payload.message
        default: nil
        }
    }
}
