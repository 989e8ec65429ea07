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
            var reader = ChangeReader(transaction, of: user, in: application)
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
private struct ChangeReader {
    private let transaction: Transaction
    private let user: UserID
    private let application: Application.ID
    private var seen: UserViewReader

    private var marks: [Conversation.ID: FeedMarks] = [:]
    private var rows: [Conversation.ID: ConversationViewRow] = [:]
    private var created: [Conversation.ID: ConversationView] = [:]
    /// The messages that the user sees.
    private var messages: [Message.ID: MessageSnapshot] = [:]
    private var receipts: [ReceiptOwner: Receipts] = [:]
    /// What the user sees of events of receipts, by their positions.
    private var received: [LogPosition: ReceivedMessages] = [:]
    private var basics: [UserID: BasicIdentity] = [:]
    private var identities: [UserID: Identity] = [:]
    private var followed: Set<UserID> = []
    private var announcements: [Announcement.ID: AnnouncementView] = [:]
    private var wide: Set<Conversation.ID> = []

    /// The most events of a page, and the most bytes of its packets beside the last event's, roughly.
    private static let (pageLimit, pageBytes) = (1000, Int64(64 << 10))
    /// The most messages of one receipt whose status is reported.
    private static let statusLimit = 1000
    /// The approximate size of a packet with one operation.
    private static let operationBytes: Int64 = 256

    init(_ transaction: Transaction, of user: UserID, in application: Application.ID) {
        self.transaction = transaction
        self.user = user
        self.application = application
        seen = UserViewReader(transaction, of: user, in: application)
    }

    mutating func read(
        after position: LogPosition, through end: LogPosition?
    ) throws -> UserChangePage {
        let extent = try transaction.logExtent(in: application)
        let start = max(position, extent.trimmed)
        let end = min(end ?? extent.end, extent.end)
        guard start < end else {
            return UserChangePage(changes: [], through: end, latest: nil, isCut: false)
        }
        let page = try transaction.events(
            after: start, through: end, types: nil, limit: Self.pageLimit, in: application)
        var events = page.items
        try seen.readViews(of: Set(events.compactMap(\.event.namedConversation)))
        events = try cut(events)
        let through =
            events.count == page.items.count && !page.isCut && events.count < Self.pageLimit
            ? end : events.last?.position ?? end
        try load(events, after: start, through: through)
        let follows = try follows(events, after: start, through: through)
        let changes = operations(events).compactMap { recorded, operations -> UserChange? in
            let all = (follows[recorded.position] ?? []) + operations
            return all.isEmpty ? nil : UserChange(at: recorded.at, operations: all)
        }
        return UserChangePage(
            changes: changes, through: through, latest: events.map(\.at).max(),
            isCut: through < end)
    }

    /// As many events as make packets of about the size of a page, at least one.
    private func cut(_ events: [RecordedEvent]) throws -> [RecordedEvent] {
        let ids = events.compactMap { recorded in message(shownBy: recorded.event) }
        var weights: [Message.ID: Int64] = [:]
        if !ids.isEmpty {
            let found = try transaction.rows(
                """
                SELECT id, weight FROM messages
                WHERE application = \(application) AND id \(in: Set(ids))
                """
            ) { row in (try row.id(0) as Message.ID, try row.int64(1)) }
            weights = Dictionary(found) { first, _ in first }
        }
        var budget = ResponseBudget(Self.pageBytes)
        return Array(
            events.prefix { recorded in
                let message = message(shownBy: recorded.event)
                return budget.admits(
                    message.map { id in weights[id] ?? 0 } ?? weight(of: recorded.event))
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
        return switch event {
        case .messageSent(let payload): payload.message.id
        case .partsChanged(let payload): payload.message
        default: nil
        }
    }

    private func isCurrent(_ id: Conversation.ID) -> Bool {
        seen.view(of: id).map { view in !view.participant.isFormer } ?? false
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
        marks = try seen.marks(of: Array(named))
        let visible = named.filter { id in seen.view(of: id) != nil }
        for row in try transaction.viewRows(of: Array(visible), for: user, in: application) {
            rows[row.id] = row
        }
        wide = Set(rows.values.filter(\.isWide).map(\.id))
        let new = rows.values.filter { row in
            guard let mark = marks[row.id] else { return false }
            let own = mark.ownWindow ?? .start
            return mark.window > start && mark.window <= end || own > start && own <= end
        }
        for view in try transaction.views(new, seenBy: user, in: application) {
            created[view.id] = view
        }
        try loadMessages(events.compactMap { recorded in message(shownBy: recorded.event) })
        var owners: [(conversation: Conversation.ID, user: UserID)] = []
        var (mentioned, full, announced): (Set<UserID>, Set<UserID>, [Announcement.ID]) =
            ([], [], [])
        for recorded in events {
            switch recorded.event {
            case .receiptsRecorded(let payload) where visible.contains(payload.conversation):
                owners.append((payload.conversation, payload.user))
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
        receipts = try seen.receipts(of: owners)
        try loadReceived(events)
        if !mentioned.isEmpty {
            basics = try transaction.identities(of: mentioned, in: application)
        }
        if !full.isEmpty {
            followed = try seen.followed(among: full).union(full.intersection([user]))
            identities = try seen.identities(of: followed)
        }
        announcements = try seen.announcements(announced)
    }

    private mutating func loadMessages(_ ids: [Message.ID]) throws {
        guard !ids.isEmpty else { return }
        let visible = try transaction.rows(
            """
            SELECT m.id FROM messages m
            JOIN participants p ON p.application = m.application
                AND p.conversation = m.conversation AND p.user_id = \(user)
            WHERE m.application = \(application) AND m.id \(in: Set(ids)) AND p.state = 'shown'
                AND m.position > p.cleared_to
                AND m.position <= COALESCE(p.left_after, m.position) AND \(seen.isShown)
            """
        ) { row in try row.id(0) as Message.ID }
        messages = try seen.snapshots(of: visible)
    }

    /// The users that the user follows, or does not follow any more, by the positions of these events.
    private func follows(
        _ events: [RecordedEvent], after start: LogPosition, through end: LogPosition
    ) throws -> [LogPosition: [UserChange.Operation]] {
        guard !created.isEmpty || events.contains(where: { $0.event.changesFollowing }) else {
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

// MARK: - Operations

extension ChangeReader {
    private func operations(
        _ events: [RecordedEvent]
    ) -> [(event: RecordedEvent, operations: [UserChange.Operation])] {
        // The counts of a conversation are reported with the last event that changes them.
        var last: [Conversation.ID: LogPosition] = [:]
        for recorded in events {
            if let id = counted(by: recorded.event) { last[id] = recorded.position }
        }
        return events.map { recorded in
            var operations = appearance(with: recorded) + operations(of: recorded)
            if let id = counted(by: recorded.event), last[id] == recorded.position,
                let row = rows[id]
            {
                operations.append(
                    .counts(id, lastMessage: row.lastMessage, unread: row.unreadCount))
            }
            return (recorded, operations)
        }
    }

    /// The conversation that becomes visible with an event.
    private func appearance(with recorded: RecordedEvent) -> [UserChange.Operation] {
        guard let id = recorded.event.namedConversation, let view = created[id],
            let mark = marks[id]
        else { return [] }
        let own = mark.ownWindow ?? .start
        guard own == recorded.position || mark.window == recorded.position else { return [] }
        switch recorded.event {
        case .messageSent, .conversationAnnounced:
            // Its creator has seen it before it was announced to the others.
            if own > .start, own < recorded.position { return [] }
        default: break
        }
        let cleared = seen.view(of: id)?.participant.clearedTo ?? .start
        guard cleared > .start else { return [.conversationCreated(view)] }
        return [.conversationCleared(id, through: cleared), .conversationCreated(view)]
    }

    /// The conversation whose counts an event changes.
    private func counted(by event: Event) -> Conversation.ID? {
        switch event {
        case .messageSent(let payload):
            messages[payload.message.id] == nil ? nil : payload.message.conversation
        case .messageDeleted(let payload): payload.message.conversation
        case .messageHidden(let payload) where payload.user == user: payload.conversation
        case .receiptsRecorded(let payload) where payload.user == user && payload.kind == .read:
            payload.conversation
        default: nil
        }
    }

    private func operations(of recorded: RecordedEvent) -> [UserChange.Operation] {
        switch recorded.event {
        case .conversationDeleted(let payload):
            return marks[payload.conversation.id]?.goneSince == recorded.position
                ? [.conversationDeleted(payload.conversation.id, forAll: true)] : []
        case .conversationHidden(let payload) where payload.user == user:
            return [.conversationDeleted(payload.conversation, forAll: false)]
        case .conversationMerged(let payload):
            guard seen.view(of: payload.winner) != nil, let loser = payload.loser else { return [] }
            return [.conversationDeleted(loser, forAll: false)]
        case .participantsChanged(let payload):
            guard created[payload.conversation] == nil,
                isCurrent(payload.conversation)
                    || seen.view(of: payload.conversation) != nil && payload.removed.contains(user)
            else { return [] }
            let added = payload.added.map { user in basics[user] ?? BasicIdentity(userID: user) }
            return [.participants(payload.conversation, added: added, removed: payload.removed)]
        case .metadataChanged(let payload) where isCurrent(payload.conversation):
            return [.metadata(payload.conversation, payload.writes)]
        case .messageSent(let payload):
            return messages[payload.message.id].map { [.messageCreated($0)] } ?? []
        case .partsChanged(let payload):
            return messages[payload.message].map { [.parts($0, payload)] } ?? []
        case .messageDeleted(let payload):
            let message = payload.message
            let isSeen = seen.view(of: message.conversation)?.sees(message.position) ?? false
            return isSeen ? [.messageDeleted(message.id, forAll: true)] : []
        case .messageHidden(let payload) where payload.user == user:
            return [.messageDeleted(payload.message, forAll: false)]
        case .receiptsRecorded(let payload): return operations(of: payload, at: recorded.position)
        case .announcementSent(let payload):
            return announcements[payload.announcement.id].map { view in
                [.announcementCreated(view.announcement, sender: view.sender, view.status)]
            } ?? []
        case .announcementReceived(let payload) where payload.user == user:
            return [.announcementStatus(payload.announcement, payload.kind.status)]
        case .announcementDeleted(let payload) where payload.user == user:
            return [.announcementDeleted(payload.announcement)]
        case .identityReplaced(let payload): return changed(payload.identity.userID)
        case .identityPatched(let payload): return changed(payload.user)
        case .identityDeleted(let payload) where followed.contains(payload.user):
            return [.identityDeleted(payload.user)]
        default: return []
        }
    }

    private func changed(_ user: UserID) -> [UserChange.Operation] {
        identities[user].map { [.identityChanged($0)] } ?? []
    }

    private func operations(
        of payload: ReceiptsRecorded, at position: LogPosition
    ) -> [UserChange.Operation] {
        guard let found = received[position] else { return [] }
        let isOwn = payload.user == user
        if found.areAllRead, found.messages.count > 1 {
            let reader = basics[payload.user] ?? BasicIdentity(userID: payload.user)
            return [
                .markedAllRead(
                    payload.conversation, found.last, by: reader, found.messages.map(\.id),
                    isOwn: isOwn)
            ]
        }
        let owner = ReceiptOwner(conversation: payload.conversation, user: payload.user)
        let known = receipts[owner] ?? Receipts()
        return found.messages.map { id, position in
            .messageStatus(id, of: payload.user, known.status(at: position), isOwn: isOwn)
        }
    }
}

// MARK: - Receipts

extension ChangeReader {
    /// Positions of messages whose receipts an event records.
    private struct ReceiptInterval {
        let event: LogPosition
        let owner: ReceiptOwner
        let positions: ClosedRange<Int64>
    }

    /// The messages whose receipts an event records.
    private struct ReceivedMessages {
        /// The last position that the event names.
        let last: Position
        /// In the order of their positions.
        var messages: [(id: Message.ID, position: Position)] = []
        /// Whether the participant has read several messages, and now every message up to the last position.
        var areAllRead: Bool
    }

    /// Reads which messages the receipts of a page concern, and whether their participants have read everything before.
    ///
    /// A page has receipts of fewer messages than `statusLimit`, or is the page of one event, whose newest messages count.
    private mutating func loadReceived(_ events: [RecordedEvent]) throws {
        var (wanted, missing): ([ReceiptInterval], [ReceiptInterval]) = ([], [])
        for recorded in events {
            guard case .receiptsRecorded(let payload) = recorded.event,
                let view = view(concernedBy: payload)
            else { continue }
            let positions = payload.positions.intersection(
                IntervalSet(view.bottom.number...view.top.number))
            guard let last = positions.intervals.last?.upperBound else { continue }
            let owner = ReceiptOwner(conversation: payload.conversation, user: payload.user)
            let interval = { (positions: ClosedRange<Int64>) in
                ReceiptInterval(event: recorded.position, owner: owner, positions: positions)
            }
            wanted += positions.intervals.map(interval)
            let unread = IntervalSet(view.bottom.number...last)
                .subtracting(receipts[owner]?.read ?? IntervalSet())
            let mayBeAll =
                payload.kind == .read && positions.count > 1
                && unread.intervals.count <= Self.gapLimit
            if mayBeAll { missing += unread.intervals.map(interval) }
            received[recorded.position] = ReceivedMessages(
                last: Position(last), areAllRead: mayBeAll)
        }
        for (event, id, position) in try messages(in: wanted).reversed() {
            received[event]?.messages.append((id, position))
        }
        for event in try self.events(withMessagesIn: missing) {
            received[event]?.areAllRead = false
        }
    }

    /// The most gaps in what a participant has read that are searched for messages: their own messages are no receipts.
    private static let gapLimit = 16

    /// The view whose messages an event of receipts concerns. In a wide conversation the receipts of others are not
    /// reported one by one (ruling 38).
    private func view(concernedBy payload: ReceiptsRecorded) -> FeedView? {
        guard let view = seen.view(of: payload.conversation), view.bottom <= view.top,
            payload.user == user || !wide.contains(payload.conversation)
        else { return nil }
        return view
    }

    /// Messages of others than the participant that the user sees, the newest first.
    private func messages(
        in intervals: [ReceiptInterval]
    ) throws -> [(event: LogPosition, id: Message.ID, position: Position)] {
        guard !intervals.isEmpty else { return [] }
        return try transaction.rows(
            """
            SELECT named.column1, m.id, m.position
            FROM \(table: "named", of: columns(of: intervals))
            JOIN messages m ON m.application = \(application) AND m.conversation = named.column2
                AND m.position BETWEEN named.column4 AND named.column5
            WHERE (m.sender_user IS NULL OR m.sender_user <> named.column3) AND \(seen.isShown)
            ORDER BY m.position DESC LIMIT \(Self.statusLimit)
            """
        ) { row in (LogPosition(try row.int64(0)), try row.id(1), try row.position(2)) }
    }

    /// The events of intervals in which the user sees a message of others than the participant.
    private func events(withMessagesIn intervals: [ReceiptInterval]) throws -> Set<LogPosition> {
        guard !intervals.isEmpty else { return [] }
        return Set(
            try transaction.rows(
                """
                SELECT named.column1 FROM \(table: "named", of: columns(of: intervals))
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

    private func columns(of intervals: [ReceiptInterval]) -> [SQLArray] {
        [
            .integers(intervals.map(\.event.number)),
            .blobs(intervals.map(\.owner.conversation.bytes)),
            .texts(intervals.map(\.owner.user.text)),
            .integers(intervals.map(\.positions.lowerBound)),
            .integers(intervals.map(\.positions.upperBound)),
        ]
    }
}

extension Event {
    /// The conversation that an event of a conversation names.
    fileprivate var namedConversation: Conversation.ID? {
        switch self {
        case .conversationCreated(let payload): payload.conversation.id
        case .conversationMatched(let payload): payload.conversation
        case .conversationMerged(let payload): payload.winner
        case .conversationShown(let payload): payload.conversation
        case .conversationAnnounced(let payload): payload.conversation
        case .conversationHidden(let payload): payload.conversation
        case .participantsChanged(let payload): payload.conversation
        case .metadataChanged(let payload): payload.conversation
        case .conversationDeleted(let payload): payload.conversation.id
        case .messageSent(let payload): payload.message.conversation
        case .receiptsRecorded(let payload): payload.conversation
        case .partsChanged(let payload): payload.conversation
        case .messageDeleted(let payload): payload.message.conversation
        case .messageHidden(let payload): payload.conversation
        case .recordImported(let payload):
            if case .conversation(let archived) = payload.record {
                archived.conversation.id
            } else {
                nil
            }
        default: nil
        }
    }

    /// Whether it changes what users see besides conversations.
    fileprivate var isPersonal: Bool {
        switch self {
        case .identityReplaced, .identityPatched, .identityDeleted, .followingChanged,
            .announcementSent, .announcementReceived, .announcementDeleted:
            true
        default: false
        }
    }

    /// Whether it may change which users follow each other.
    fileprivate var changesFollowing: Bool {
        switch self {
        case .followingChanged, .participantsChanged, .conversationHidden, .conversationDeleted,
            .conversationShown, .conversationAnnounced, .conversationMerged, .recordImported:
            true
        default: false
        }
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
