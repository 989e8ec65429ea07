import Messaging
import SQL

/// Reads a page of a user's feed in one transaction.
///
/// A *catch-up* reads what has changed after a position, in the streams of the user and of the conversations that the user
/// sees, and shows the objects as they are now. A *snapshot* lists everything that the user sees; a catch-up
/// from the position at which it began follows it.
///
/// An answer may be cut anywhere, and changes may come in between. Each object still comes once, unless it changes
/// meanwhile, because the cursor has where the catch-up began (`base`) and where the log ended then (`end`).
struct FeedReader {
    private let epoch: String
    let limit: Int
    private(set) var budget: ResponseBudget
    private(set) var entries: [FeedPage.Entry] = []
    /// Reads the objects as the user sees them.
    let seen: UserViewReader
    /// The changes of a batch of events; `nil` if they have to be found.
    let known: [FeedChange]?
    /// The positions from which on messages of conversations are wanted.
    var windowStarts: [Conversation.ID: Position] = [:]

    init(
        of user: UserID, epoch: String, limit: Int, bytes: Int64, sharing shared: SharedReads,
        knowing known: [FeedChange]? = nil
    ) {
        budget = ResponseBudget(bytes)
        seen = UserViewReader(user: user, shared: shared)
        self.known = known
        self.epoch = epoch
        self.limit = limit
    }

    var user: UserID { seen.user }
    var application: Application.ID { seen.application }
    var transaction: Transaction { seen.transaction }

    /// Reads the changes of a batch of events, for a client that has everything before it.
    mutating func read(
        after start: LogPosition, to end: LogPosition, history: FeedHistory
    ) throws -> FeedPage {
        let catchUp = FeedCursor.CatchUp(base: start, end: end, history: history, object: nil)
        return try page(after: start, catchUp, to: end)
    }

    mutating func read(after cursor: FeedCursor?, history: FeedHistory) throws -> FeedPage {
        let (end, trimmed) = try logEnd()
        guard let cursor, isKnown(cursor, from: trimmed, to: end) else {
            let snapshot = FeedCursor.Snapshot(
                end: end, history: history, place: .identities(after: nil))
            return try page(snapshot, to: end, isReset: true)
        }
        switch cursor.rest {
        case .snapshot(let snapshot)?: return try page(snapshot, to: end, isReset: false)
        case .catchUp(let catchUp)?: return try page(after: cursor.position, catchUp, to: end)
        case nil:
            let catchUp = FeedCursor.CatchUp(
                base: cursor.position, end: end, history: history, object: nil)
            return try page(after: cursor.position, catchUp, to: end)
        }
    }

    /// Whether the changes after a cursor are known; otherwise a snapshot is needed.
    private func isKnown(
        _ cursor: FeedCursor, from trimmed: LogPosition, to end: LogPosition
    ) -> Bool {
        guard cursor.epoch == epoch, cursor.position <= end else { return false }
        // Rows that are still needed may have been trimmed.
        if case .snapshot(let snapshot)? = cursor.rest {
            return snapshot.end >= trimmed && snapshot.end <= end
        }
        return cursor.position >= trimmed
    }

    private func logEnd() throws -> (end: LogPosition, trimmed: LogPosition) {
        try transaction.first(
            """
            SELECT position, touched_trimmed FROM log_positions
            WHERE application = \(application)
            """
        ) { row in (LogPosition(try row.int64(0)), LogPosition(try row.int64(1))) }
            ?? (.start, .start)
    }

    private func cursor(_ position: LogPosition, _ rest: FeedCursor.Rest?) -> FeedCursor {
        FeedCursor(epoch: epoch, position: position, rest: rest)
    }

    /// Adds an entry, if the page has space for it; the first entry always fits.
    mutating func add(
        _ item: FeedItem, weighing weight: Int64 = 0, _ cursor: FeedCursor
    ) -> Bool {
        guard entries.count < limit, budget.admits(weight) else { return false }
        entries.append(FeedPage.Entry(item: item, cursor: cursor))
        return true
    }

    var rest: Int { limit - entries.count }

    private func finished(at end: LogPosition, reset: FeedCursor? = nil) -> FeedPage {
        FeedPage(entries: entries, cursor: cursor(end, nil), isCut: false, reset: reset, end: end)
    }

    private func cut(
        _ cursor: FeedCursor, at end: LogPosition, reset: FeedCursor? = nil
    ) -> FeedPage {
        FeedPage(entries: entries, cursor: cursor, isCut: true, reset: reset, end: end)
    }
}

// MARK: - Snapshots

extension FeedReader {
    private typealias Place = FeedCursor.Snapshot.Place
    private typealias Listed = FeedCursor.Snapshot.Listed

    /// Continues a snapshot, and then the catch-up that follows it.
    private mutating func page(
        _ snapshot: FeedCursor.Snapshot, to end: LogPosition, isReset: Bool
    ) throws -> FeedPage {
        let reset = isReset ? cursor(of: snapshot, at: snapshot.place) : nil
        var place = snapshot.place
        while let next = try advance(from: place, snapshot) {
            guard next.isDone else {
                return cut(cursor(of: snapshot, at: next.place), at: end, reset: reset)
            }
            place = next.place
        }
        guard snapshot.end < end else { return finished(at: end, reset: reset) }
        // The client may have received a later state of whatever has changed since.
        let catchUp = FeedCursor.CatchUp(
            base: snapshot.end, end: snapshot.end, history: snapshot.history, object: nil)
        let page = try page(after: snapshot.end, catchUp, to: end)
        return FeedPage(
            entries: page.entries, cursor: page.cursor, isCut: page.isCut, reset: reset, end: end)
    }

    private func cursor(of snapshot: FeedCursor.Snapshot, at place: Place) -> FeedCursor {
        snapshot.cursor(at: place, epoch)
    }

    /// Adds what stands at a place.
    ///
    /// - Returns: The next place, and whether the page may have space for more; `nil` at the end of the snapshot.
    private mutating func advance(
        from place: Place, _ snapshot: FeedCursor.Snapshot
    ) throws -> (place: Place, isDone: Bool)? {
        switch place {
        case .identities(let last): try addIdentities(after: last, snapshot)
        case .conversations(let last): try addConversations(after: last, snapshot)
        case .window(let listed, let window): try addWindow(of: listed, from: window, snapshot)
        case .announcements(let last): try addAnnouncements(after: last, snapshot)
        }
    }

    private mutating func addIdentities(
        after last: UserID?, _ snapshot: FeedCursor.Snapshot
    ) throws -> (place: Place, isDone: Bool)? {
        let users = try transaction.rows(
            """
            SELECT user_id FROM (
                SELECT followed AS user_id FROM following
                WHERE application = \(application) AND follower = \(user)
                UNION
                SELECT user_id FROM identities
                WHERE application = \(application) AND user_id = \(user)
            ) u
            WHERE user_id > \(last?.text ?? "") ORDER BY user_id LIMIT \(rest + 1)
            """
        ) { row in try row.user(0) }
        let identities = try seen.identities(of: users.prefix(rest))
        var last = last
        for user in users {
            let cursor = cursor(of: snapshot, at: .identities(after: user))
            guard add(.identity(user, identities[user]), weighing: 1024, cursor) else {
                return (.identities(after: last), false)
            }
            last = user
        }
        return (.conversations(after: nil), true)
    }

    private mutating func addConversations(
        after last: Listed?, _ snapshot: FeedCursor.Snapshot
    ) throws -> (place: Place, isDone: Bool)? {
        guard rest > 0 else { return (.conversations(after: last), false) }
        let time = last?.time ?? ViewCursor.top.time
        let id = last?.id ?? ViewCursor.top.id
        let listed = try transaction.rows(
            """
            SELECT conversation_created_at, conversation FROM participants
            WHERE application = \(application) AND user_id = \(user) AND state = 'shown'
                AND (conversation_created_at, conversation) < (\(time), \(id))
            ORDER BY conversation_created_at DESC, conversation DESC
            LIMIT \(min(rest, Self.conversationsAtOnce))
            """
        ) { row in (time: try row.timestamp(0), id: try row.id(1) as Conversation.ID) }
        guard !listed.isEmpty else { return (.announcements(after: nil), true) }
        let ids = listed.map(\.id)
        try seen.readViews(of: ids)
        let marks = try seen.marks(of: ids)
        // One that has become visible since is part of the catch-up.
        let new = Set(
            ids.filter { id in marks[id]?.window ?? .start > snapshot.end })
        let items = try conversations(
            ids.filter { id in !new.contains(id) }.map { id in (id, nil) }, snapshot.history)
        for (time, id) in listed {
            let place = Listed(time: time, id: id.bytes)
            guard let item = items[id] else { continue }
            let window = Place.window(place, .start)
            guard
                add(
                    .conversation(id, item.conversation), weighing: item.weight,
                    cursor(of: snapshot, at: window))
            else { return (.conversations(after: previous(of: id, in: listed) ?? last), false) }
            let next = try addWindow(of: place, from: .start, snapshot)
            guard let next, next.isDone else { return next }
        }
        return (
            .conversations(
                after: listed.last.map { last in Listed(time: last.time, id: last.id.bytes) }), true
        )
    }

    private func previous(
        of id: Conversation.ID, in listed: [(time: Timestamp, id: Conversation.ID)]
    ) -> Listed? {
        listed.prefix { other in other.id != id }.last.map { other in
            Listed(time: other.time, id: other.id.bytes)
        }
    }

    private static let conversationsAtOnce = 64

    private mutating func addWindow(
        of listed: Listed, from place: FeedCursor.WindowPlace, _ snapshot: FeedCursor.Snapshot
    ) throws -> (place: Place, isDone: Bool)? {
        guard let id = Conversation.ID(bytes: listed.id) else {
            return (.conversations(after: listed), true)
        }
        let next = try addWindow(
            of: id, from: place, through: LogPosition(.max), snapshot.history,
            cursor: { [epoch] place in snapshot.cursor(at: .window(listed, place), epoch) })
        guard let next else { return (.conversations(after: listed), true) }
        return (.window(listed, next), false)
    }

    private mutating func addAnnouncements(
        after last: Listed?, _ snapshot: FeedCursor.Snapshot
    ) throws -> (place: Place, isDone: Bool)? {
        guard rest > 0 else { return (.announcements(after: last), false) }
        let copies = try transaction.announcementCopies(
            for: user, after: last.map { last in (time: last.time, id: last.id) }, limit: rest + 1,
            in: application)
        var last = last
        for view in try transaction.views(of: copies.items, in: application) {
            let place = Listed(time: view.announcement.sentAt, id: view.announcement.id.bytes)
            guard
                add(
                    .announcement(view.announcement.id, view), weighing: view.weight,
                    cursor(of: snapshot, at: .announcements(after: place)))
            else { return (.announcements(after: last), false) }
            last = place
        }
        return copies.isCut ? (.announcements(after: last), true) : nil
    }
}

// MARK: - Catching up

extension FeedReader {
    /// The number of positions that are read at first; more and more are when few of them concern the user.
    private static let firstSpan: Int64 = 4096
    private static let changesAtOnce = 256

    /// Continues a catch-up after a position.
    private mutating func page(
        after position: LogPosition, _ catchUp: FeedCursor.CatchUp, to end: LogPosition
    ) throws -> FeedPage {
        // Where the next page continues if this one is cut.
        var next = (position: position, object: catchUp.object)
        var span = Self.firstSpan
        while next.position < end {
            let bound = LogPosition(min(end.number, next.position.number + span))
            span = min(span * 8, 1 << 40)
            let resumed = next
            let changes = try changes(after: resumed.position, through: bound).filter { change in
                guard let object = resumed.object,
                    change.position.number == resumed.position.number + 1
                else { return true }
                return change.order.last > object
            }
            for chunk in changes.chunks(of: min(Self.changesAtOnce, limit + 8)) {
                let found = try resolve(chunk, catchUp)
                for change in chunk {
                    let before = LogPosition(change.position.number - 1)
                    let object = before == resumed.position ? resumed.object : nil
                    switch try add(change, found, catchUp, resuming: object) {
                    case .whole: next = (before, change.order.last)
                    case .upTo(let object):
                        return cut(
                            cursor(before, .catchUp(catchUp.after(object))), at: end)
                    case .none:
                        return cut(
                            cursor(next.position, .catchUp(catchUp.after(next.object))), at: end)
                    }
                }
            }
            next = (bound, nil)
        }
        return finished(at: end)
    }

    /// How much of a change was added to a page.
    private enum Added {
        case whole
        case upTo(FeedOrder)
        case none
    }

    /// Adds the objects of a change.
    private mutating func add(
        _ change: FeedChange, _ found: FeedObjects, _ catchUp: FeedCursor.CatchUp,
        resuming object: FeedOrder?
    ) throws -> Added {
        let cursor = { [epoch] (object: FeedOrder) in
            FeedCursor(
                epoch: epoch, position: LogPosition(change.position.number - 1),
                rest: .catchUp(catchUp.after(object)))
        }
        guard case .window(let id) = change.object else {
            var isFirst = true
            guard let items = found.items(of: change, catchUp) else { return .none }
            for (item, weight) in items {
                if isFirst {
                    guard add(item, weighing: weight, cursor(change.order)) else {
                        return .none
                    }
                } else {
                    // Aliases of a conversation, which are not worth a cursor of their own.
                    entries.append(FeedPage.Entry(item: item, cursor: cursor(change.order)))
                }
                isFirst = false
            }
            return .whole
        }
        guard let mark = found.marks[id]?.window, mark == change.position, mark > catchUp.base
        else { return .whole }
        let start = object.flatMap { object in
            change.order.isWindow(of: object) ? FeedCursor.WindowPlace(object) : nil
        }
        // What has changed since the catch-up began is a change of its own.
        let bound = mark > catchUp.end ? mark : catchUp.base
        let next = try addWindow(
            of: id, from: start ?? .start, through: bound, catchUp.history,
            cursor: { place in cursor(place.order(in: id)) })
        return next.map { next in .upTo(next.order(in: id)) } ?? .whole
    }
}

extension FeedCursor.Snapshot {
    fileprivate func cursor(at place: Place, _ epoch: String) -> FeedCursor {
        FeedCursor(
            epoch: epoch, position: .start,
            rest: .snapshot(FeedCursor.Snapshot(end: end, history: history, place: place)))
    }
}

extension FeedCursor.CatchUp {
    fileprivate func after(_ object: FeedOrder?) -> FeedCursor.CatchUp {
        FeedCursor.CatchUp(base: base, end: end, history: history, object: object)
    }
}

extension FeedOrder {
    /// Whether it is that of the window that an object belongs to.
    fileprivate func isWindow(of object: FeedOrder) -> Bool {
        stage == .window && object.stage == .window && object.id.count > id.count
            && object.id.starts(with: id)
    }

    /// The order of the last object of the change.
    fileprivate var last: FeedOrder {
        stage == .window ? FeedOrder(stage: .window, id: id + [0xFF]) : self
    }
}

extension FeedCursor.WindowPlace {
    /// The order of the last object before the place.
    fileprivate func order(in conversation: Conversation.ID) -> FeedOrder {
        switch self {
        case .receipts(let user):
            FeedOrder(stage: .window, id: conversation.bytes + [0] + user)
        case .messages(let position):
            FeedOrder(stage: .window, id: conversation.bytes + [1] + position.bytes)
        }
    }

    /// The place after an object of a window; `nil` after the last.
    fileprivate init?(_ object: FeedOrder) {
        let rest = object.id.dropFirst(16)
        switch rest.first {
        case 0: self = .receipts(after: Array(rest.dropFirst()))
        case 1:
            let number = rest.dropFirst().reduce(UInt64(0)) { number, byte in
                number << 8 | UInt64(byte)
            }
            self = .messages(after: Position(Int64(truncatingIfNeeded: number)))
        default: return nil
        }
    }
}
