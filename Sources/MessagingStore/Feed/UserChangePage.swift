public import Messaging
import SQL

/// Some of the changes that a user sees.
public struct UserChangePage: Sendable {
    /// The changes in the order of their events.
    public let changes: [UserChange]
    /// The last position that was examined: the next changes come after it.
    public let through: LogPosition
    /// The latest time of the examined events; `nil` if there were none.
    public let latest: Timestamp?
    /// Whether there is more to examine.
    public let isCut: Bool
}

extension MessagingStore {
    /// Reads the changes that a user sees, after a position of the event log.
    ///
    /// - Parameter end: The last position to examine; `nil` for the end of the log.
    public func changes(
        of user: UserID, after position: LogPosition, through end: LogPosition? = nil,
        in application: Application.ID
    ) async throws -> UserChangePage {
        try await database.read { transaction in
            var reader = ChangeReader(
                of: user, sharing: SharedReads(transaction, in: application))
            return try reader.read(after: position, through: end)
        }
    }

    /// The end of an application's log, and the time of its last event; `nil` for a log without events.
    public func latestEvent(
        in application: Application.ID
    ) async throws -> (position: LogPosition, at: Timestamp?) {
        try await database.read { transaction in
            let end = try transaction.endOfLog(in: application)
            let at = try transaction.first(
                "SELECT at FROM events WHERE application = \(application) AND position = \(end)"
            ) { row in try row.timestamp(0) }
            return (end, at)
        }
    }

    /// The position after which the events since a moment come.
    ///
    /// Times of events may be out of order by as long as a commit takes, so the last seconds before the moment are
    /// searched one by one.
    public func position(
        before moment: Timestamp, in application: Application.ID
    ) async throws -> LogPosition {
        try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            let safe = Timestamp(milliseconds: max(60_000, moment.milliseconds) - 60_000)
            var (low, high) = (extent.trimmed.number, extent.end.number)
            while low < high {
                let middle = low + (high - low) / 2
                let at = try transaction.first(
                    """
                    SELECT at FROM events
                    WHERE application = \(application) AND position > \(middle)
                    ORDER BY position LIMIT 1
                    """
                ) { row in try row.timestamp(0) }
                if let at, at < safe { low = middle + 1 } else { high = middle }
            }
            let first = try transaction.first(
                """
                SELECT position FROM events
                WHERE application = \(application) AND position > \(low) AND at >= \(moment)
                ORDER BY position LIMIT 1
                """
            ) { row in try row.int64(0) }
            return first.map { first in LogPosition(first - 1) } ?? extent.end
        }
    }
}

/// Finds what events change for one user, in a constant number of statements for each page.
struct ChangeReader {
    private var objects: ChangedObjects

    /// The most events of a page, and the most bytes of its packets beside the last event's, roughly.
    private static let (pageLimit, pageBytes) = (1000, Int64(64 << 10))
    /// The most messages of one receipt whose status is reported.
    static let statusLimit = 1000
    /// The approximate size of a packet with one operation.
    private static let operationBytes: Int64 = 256

    init(of user: UserID, sharing shared: SharedReads) {
        objects = ChangedObjects(seenBy: UserViewReader(user: user, shared: shared))
    }

    private var seen: UserViewReader { objects.seen }
    private var user: UserID { seen.user }
    private var transaction: Transaction { seen.transaction }
    private var application: Application.ID { seen.application }

    mutating func read(
        after position: LogPosition, through end: LogPosition?
    ) throws -> UserChangePage {
        let extent = try transaction.logExtent(in: application)
        let start = max(position, extent.trimmed)
        let end = min(end ?? extent.end, extent.end)
        guard start < end else {
            return UserChangePage(changes: [], through: end, latest: nil, isCut: false)
        }
        let bound = min(end, LogPosition(start.number + MessagingStore.eventWindow))
        let page = try transaction.events(
            after: start, through: bound, concerning: user, limit: Self.pageLimit,
            in: application)
        return try read(
            page.items, after: start,
            through: !page.isCut && page.items.count < Self.pageLimit
                ? bound : page.items.last?.position ?? bound, to: end)
    }

    /// Reads what some events change.
    ///
    /// - Parameters:
    ///   - events: All events after a position up to another that may concern the user.
    ///   - end: Where the changes end that are wanted.
    mutating func read(
        _ events: [RecordedEvent], after start: LogPosition, through last: LogPosition,
        to end: LogPosition
    ) throws -> UserChangePage {
        try seen.readViews(of: Set(events.compactMap(\.event.namedConversation)))
        let taken = try cut(events)
        let through = taken.count == events.count ? last : taken.last?.position ?? last
        try load(taken, after: start, through: through)
        let follows = try follows(taken, after: start, through: through)
        let changes = objects.operations(taken).compactMap { recorded, operations -> UserChange? in
            let all = (follows[recorded.position] ?? []) + operations
            return all.isEmpty ? nil : UserChange(at: recorded.at, operations: all)
        }
        return UserChangePage(
            changes: changes, through: through, latest: taken.map(\.at).max(),
            isCut: through < end)
    }

    /// As many events as make packets of about the size of a page, at least one.
    private func cut(_ events: [RecordedEvent]) throws -> [RecordedEvent] {
        try seen.shared.readHeads(
            of: Set(events.compactMap { recorded in message(shownBy: recorded.event) }))
        var budget = ResponseBudget(Self.pageBytes)
        return Array(
            events.prefix { recorded in
                let message = message(shownBy: recorded.event)
                return budget.admits(
                    message.map { id in seen.shared.head(of: id)?.weight ?? 0 }
                        ?? weight(of: recorded.event))
            })
    }

    /// The approximate size of the packets of an event that shows no message.
    private func weight(of event: Event) -> Int64 {
        guard let id = event.namedConversation, seen.view(of: id) != nil else { return 0 }
        return switch event {
        case .metadataChanged(let payload): payload.writes.weight
        case .participantsChanged(let payload):
            Int64(payload.added.count + payload.removed.count) * Self.operationBytes
        case .receiptsRecorded(let payload):
            min(payload.positions.count, Int64(Self.statusLimit)) * Self.operationBytes
        default: Self.operationBytes
        }
    }

    /// The message that an event shows, if the user sees its conversation.
    private func message(shownBy event: Event) -> Message.ID? {
        guard let conversation = event.namedConversation, seen.view(of: conversation) != nil else {
            return nil
        }
        return event.changedMessage
    }
}

// MARK: - Reading the objects

extension ChangeReader {
    private mutating func load(
        _ events: [RecordedEvent], after start: LogPosition, through end: LogPosition
    ) throws {
        let named = Set(events.compactMap(\.event.namedConversation))
        guard !named.isEmpty || events.contains(where: { recorded in recorded.event.isPersonal })
        else { return }
        objects.marks = try seen.marks(of: Array(named))
        let visible = named.filter { id in seen.view(of: id) != nil }
        let rows = try seen.rows(of: Array(visible))
        for row in rows { objects.rows[row.id] = row }
        let new = rows.filter { row in
            guard let mark = objects.marks[row.id] else { return false }
            let own = mark.ownWindow ?? .start
            return mark.window > start && mark.window <= end || own > start && own <= end
        }
        for view in try transaction.views(new, seenBy: user, in: application) {
            objects.created[view.id] = view
        }
        try loadMessages(events.compactMap { recorded in message(shownBy: recorded.event) })
        var owners: [ReceiptOwner] = []
        var (mentioned, full, announced): (Set<UserID>, Set<UserID>, [Announcement.ID]) =
            ([], [], [])
        for recorded in events {
            switch recorded.event {
            case .receiptsRecorded(let payload) where visible.contains(payload.conversation):
                owners.append(
                    ReceiptOwner(conversation: payload.conversation, user: payload.user))
                mentioned.insert(payload.user)
            case .participantsChanged(let payload) where visible.contains(payload.conversation):
                mentioned.formUnion(payload.added)
            case .identityReplaced(let payload): full.insert(payload.identity.userID)
            case .identityPatched(let payload): full.insert(payload.user)
            case .identityDeleted(let payload): full.insert(payload.user)
            case .announcementSent(let payload) where payload.recipients.contains(user):
                announced.append(payload.announcement.id)
            default: break
            }
        }
        try seen.shared.readReceipts(of: owners)
        try loadReceived(events)
        try seen.shared.readIdentities(of: mentioned)
        if !full.isEmpty {
            objects.followed = try seen.followed(among: full).union(full.intersection([user]))
            objects.identities = try seen.identities(of: objects.followed)
        }
        objects.announcements = try seen.announcements(announced)
    }

    private mutating func loadMessages(_ ids: [Message.ID]) throws {
        let visible = ids.filter { id in
            guard let head = seen.shared.head(of: id), let view = seen.view(of: head.conversation)
            else { return false }
            return view.sees(head.position) && !seen.shared.isHidden(id, from: user)
        }
        objects.messages = try seen.snapshots(of: visible)
    }

    /// The users that the user follows, or does not follow any more, by the positions of these events.
    private func follows(
        _ events: [RecordedEvent], after start: LogPosition, through end: LogPosition
    ) throws -> [LogPosition: [UserChange.Operation]] {
        guard !objects.created.isEmpty || events.contains(where: { $0.event.changesFollowing })
        else {
            return [:]
        }
        let new = try transaction.rows(
            """
            SELECT followed, event FROM following
            WHERE application = \(application) AND follower = \(user)
                AND event > \(start) AND event <= \(end)
            """
        ) { row in (user: try row.user(0), position: LogPosition(try row.int64(1))) }
        let gone = try transaction.rows(
            """
            SELECT id, position FROM touched
            WHERE application = \(application) AND stream = \(Array(user.text.utf8))
                AND position > \(start) AND position <= \(end)
                AND kind = \(TouchedKind.unfollowed.rawValue)
            """
        ) { row in (user: UserID(try row.blob(0)), position: LogPosition(try row.int64(1))) }
        let identities = try seen.identities(of: Set(new.map(\.user)))
        let stillFollowed = try seen.followed(among: Set(gone.compactMap(\.user)))
        var operations: [LogPosition: [UserChange.Operation]] = [:]
        for (user, position) in new where user != self.user {
            guard let identity = identities[user] else { continue }
            operations[position, default: []].append(.identityCreated(identity))
        }
        for (user, position) in gone {
            guard let user, !stillFollowed.contains(user) else { continue }
            operations[position, default: []].append(.identityDeleted(user))
        }
        return operations
    }
}

// MARK: - Receipts

extension ChangeReader {
    /// Reads which messages the receipts of a page concern, and whether their participants have read everything before.
    ///
    /// A page has receipts of fewer messages than `statusLimit`, or is the page of one event, whose newest messages count.
    private mutating func loadReceived(_ events: [RecordedEvent]) throws {
        var (wanted, missing): ([SharedReads.ReceiptInterval], [SharedReads.ReceiptInterval]) = (
            [], []
        )
        for recorded in events {
            guard case .receiptsRecorded(let payload) = recorded.event,
                let view = view(concernedBy: payload)
            else { continue }
            let intervals = view.intervals(of: payload, at: recorded.position)
            guard let last = intervals.last?.positions.upperBound else { continue }
            let owner = ReceiptOwner(conversation: payload.conversation, user: payload.user)
            let interval = { (positions: ClosedRange<Int64>) in
                SharedReads.ReceiptInterval(
                    event: recorded.position, owner: owner, positions: positions)
            }
            wanted += intervals
            let unread = IntervalSet(view.bottom.number...last)
                .subtracting(seen.shared.receipts(of: owner)?.read ?? IntervalSet())
            let mayBeAll =
                payload.kind == .read && intervals[0].positions.lowerBound < last
                && unread.intervals.count <= Self.gapLimit
            if mayBeAll { missing += unread.intervals.map(interval) }
            objects.received[recorded.position] = ChangedObjects.ReceivedMessages(
                last: Position(last), areAllRead: mayBeAll)
        }
        try seen.shared.readMessages(in: wanted, limit: Self.statusLimit)
        for interval in wanted {
            let messages = seen.shared.messages(in: interval).filter { message in
                !seen.shared.isHidden(message.id, from: user)
            }
            objects.received[interval.event]?.messages += messages
        }
        for event in try self.events(withMessagesIn: missing) {
            objects.received[event]?.areAllRead = false
        }
    }

    /// The most gaps in what a participant has read that are searched for messages: their own messages are no receipts.
    private static let gapLimit = 16

    /// The view whose messages an event of receipts concerns. In a wide conversation the receipts of others are not
    /// reported one by one (ruling 38).
    private func view(concernedBy payload: ReceiptsRecorded) -> FeedView? {
        guard let view = seen.view(of: payload.conversation), view.bottom <= view.top,
            payload.user == user || objects.rows[payload.conversation]?.isWide != true
        else { return nil }
        return view
    }

    /// The events of intervals in which the user sees a message of others than the participant.
    private func events(withMessagesIn intervals: [SharedReads.ReceiptInterval]) throws -> Set<
        LogPosition
    > {
        guard !intervals.isEmpty else { return [] }
        return Set(
            try transaction.rows(
                """
                SELECT named.column1 FROM \(table: "named", of: SharedReads.ReceiptInterval.columns(of: Set(intervals)))
                WHERE EXISTS (
                    SELECT 1 FROM messages m
                    WHERE m.application = \(application) AND m.conversation = named.column2
                        AND m.position BETWEEN named.column4 AND named.column5
                        AND (m.sender_user IS NULL OR m.sender_user <> named.column3)
                        AND \(seen.isShown)
                )
                """
            ) { row in LogPosition(try row.int64(0)) })
    }
}

extension Metadata {
    /// The approximate size of the writes as operations.
    fileprivate var weight: Int64 {
        writes.reduce(0) { sum, entry in
            let path = entry.path.reduce(0) { length, key in length + key.utf8.count + 1 }
            let value = if case .text(let text) = entry.write.value { text.utf8.count } else { 0 }
            return sum + Int64(path + value) + 64
        }
    }
}
