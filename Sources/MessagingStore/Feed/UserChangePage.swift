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

/// Finds what events change for one user, in a constant number of statements for each page, and one or more for each
/// event of receipts.
private struct ChangeReader {
    private let transaction: Transaction
    private let user: UserID
    private let application: Application.ID
    private var feed: FeedReader

    private var marks: [Conversation.ID: FeedMarks] = [:]
    private var rows: [Conversation.ID: ConversationViewRow] = [:]
    private var created: [Conversation.ID: ConversationView] = [:]
    /// The messages that the user sees.
    private var messages: [Message.ID: MessageSnapshot] = [:]
    private var receipts: [ReceiptOwner: Receipts] = [:]
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
        feed = FeedReader(
            transaction, of: user, in: application, epoch: "", limit: 1, bytes: Self.pageBytes)
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
        try feed.readViews(of: Set(events.compactMap(\.event.namedConversation)))
        events = try cut(events)
        let through =
            events.count == page.items.count && !page.isCut && events.count < Self.pageLimit
            ? end : events.last?.position ?? end
        try load(events, after: start, through: through)
        let changes =
            try follows(events, after: start, through: through) + operations(events)
        // A stable order: what an event changes stays in order.
        let sorted = changes.enumerated().sorted { left, right in
            (left.element.position, left.offset) < (right.element.position, right.offset)
        }.map(\.element)
        return UserChangePage(
            changes: sorted, through: through, latest: events.map(\.at).max(),
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
        guard let id = event.namedConversation, feed.view(of: id) != nil else { return 0 }
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
        guard let conversation = event.namedConversation, feed.view(of: conversation) != nil else {
            return nil
        }
        return switch event {
        case .messageSent(let payload): payload.message.id
        case .partsChanged(let payload): payload.message
        default: nil
        }
    }

    private func isCurrent(_ id: Conversation.ID) -> Bool {
        feed.view(of: id).map { view in !view.participant.isFormer } ?? false
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
        marks = try feed.marks(of: Array(named))
        let seen = named.filter { id in feed.view(of: id) != nil }
        for row in try transaction.viewRows(of: Array(seen), for: user, in: application) {
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
            case .receiptsRecorded(let payload) where seen.contains(payload.conversation):
                owners.append((payload.conversation, payload.user))
                mentioned.insert(payload.user)
            case .participantsChanged(let payload) where seen.contains(payload.conversation):
                mentioned.formUnion(payload.added)
            case .identityReplaced(let payload): full.insert(payload.identity.userID)
            case .identityPatched(let payload): full.insert(payload.user)
            case .identityDeleted(let payload): full.insert(payload.user)
            case .announcementSent(let payload) where payload.recipients.contains(user):
                announced.append(payload.announcement.id)
            default: break
            }
        }
        receipts = try feed.receipts(of: owners)
        if !mentioned.isEmpty {
            basics = try transaction.identities(of: mentioned, in: application)
        }
        if !full.isEmpty {
            followed = try followed(among: full).union(full.intersection([user]))
            identities = try feed.identities(of: followed)
        }
        if !announced.isEmpty {
            let copies = try transaction.announcementCopies(
                announced, for: user, in: application)
            for view in try transaction.views(of: copies, in: application) {
                announcements[view.announcement.id] = view
            }
        }
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
                AND m.position <= COALESCE(p.left_after, m.position) AND \(feed.isShown)
            """
        ) { row in try row.id(0) as Message.ID }
        messages = try feed.snapshots(of: visible)
    }

    private func followed(among users: Set<UserID>) throws -> Set<UserID> {
        Set(
            try transaction.rows(
                """
                SELECT followed FROM following
                WHERE application = \(application) AND follower = \(user)
                    AND followed \(in: users)
                """
            ) { row in try row.user(0) })
    }

    /// The users that the user follows, or does not follow any more, since these events.
    private func follows(
        _ events: [RecordedEvent], after start: LogPosition, through end: LogPosition
    ) throws -> [UserChange] {
        guard !created.isEmpty || events.contains(where: { $0.event.changesFollowing }) else {
            return []
        }
        let times = Dictionary(events.map { ($0.position, $0.at) }) { first, _ in first }
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
        let identities = try feed.identities(of: Set(new.map(\.user)))
        let stillFollowed = try followed(among: Set(gone.compactMap(\.user)))
        var changes: [UserChange] = []
        for (user, position) in new {
            guard user != self.user, let at = times[position], let identity = identities[user]
            else { continue }
            changes.append(
                UserChange(position: position, at: at, operation: .identityCreated(identity)))
        }
        for (user, position) in gone {
            guard let user, !stillFollowed.contains(user), let at = times[position] else {
                continue
            }
            changes.append(
                UserChange(position: position, at: at, operation: .identityDeleted(user)))
        }
        return changes
    }
}

// MARK: - Operations

extension ChangeReader {
    private func operations(_ events: [RecordedEvent]) throws -> [UserChange] {
        // The counts of a conversation are reported with the last event that changes them.
        var last: [Conversation.ID: LogPosition] = [:]
        for recorded in events {
            if let id = counted(by: recorded.event) { last[id] = recorded.position }
        }
        var changes: [UserChange] = []
        for recorded in events {
            var operations = appearance(with: recorded) + (try operations(of: recorded))
            if let id = counted(by: recorded.event), last[id] == recorded.position,
                let row = rows[id]
            {
                operations.append(
                    .counts(id, lastMessage: row.lastMessage, unread: row.unreadCount))
            }
            changes += operations.map { operation in
                UserChange(position: recorded.position, at: recorded.at, operation: operation)
            }
        }
        return changes
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
        let cleared = feed.view(of: id)?.participant.clearedTo ?? .start
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

    private func operations(of recorded: RecordedEvent) throws -> [UserChange.Operation] {
        switch recorded.event {
        case .conversationDeleted(let payload):
            return marks[payload.conversation.id]?.goneSince == recorded.position
                ? [.conversationDeleted(payload.conversation.id, forAll: true)] : []
        case .conversationHidden(let payload) where payload.user == user:
            return [.conversationDeleted(payload.conversation, forAll: false)]
        case .conversationMerged(let payload):
            guard feed.view(of: payload.winner) != nil, let loser = payload.loser else { return [] }
            return [.conversationDeleted(loser, forAll: false)]
        case .participantsChanged(let payload):
            guard created[payload.conversation] == nil,
                isCurrent(payload.conversation)
                    || feed.view(of: payload.conversation) != nil && payload.removed.contains(user)
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
            let isSeen = feed.view(of: message.conversation)?.sees(message.position) ?? false
            return isSeen ? [.messageDeleted(message.id, forAll: true)] : []
        case .messageHidden(let payload) where payload.user == user:
            return [.messageDeleted(payload.message, forAll: false)]
        case .receiptsRecorded(let payload): return try operations(of: payload)
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

    private func operations(of payload: ReceiptsRecorded) throws -> [UserChange.Operation] {
        let isOwn = payload.user == user
        // In a wide conversation the receipts of others are not reported one by one (ruling 38).
        guard let view = feed.view(of: payload.conversation),
            isOwn || !wide.contains(payload.conversation), view.bottom <= view.top
        else { return [] }
        let owner = ReceiptOwner(conversation: payload.conversation, user: payload.user)
        let known = receipts[owner] ?? Receipts()
        let positions = payload.positions.intersection(
            IntervalSet(view.bottom.number...view.top.number))
        var concerned: [(id: Message.ID, position: Position)] = []
        for interval in positions.intervals.reversed() {
            concerned += try messages(
                at: interval, of: owner, limit: Self.statusLimit - concerned.count)
        }
        guard !concerned.isEmpty else { return [] }
        if payload.kind == .read, concerned.count > 1,
            let last = positions.intervals.last.map({ Position($0.upperBound) }),
            try hasReadAll(through: last, view, owner, known)
        {
            let reader = basics[payload.user] ?? BasicIdentity(userID: payload.user)
            return [
                .markedAllRead(
                    payload.conversation, last, by: reader, concerned.map(\.id), isOwn: isOwn)
            ]
        }
        return concerned.reversed().map { id, position in
            .messageStatus(id, of: payload.user, known.status(at: position), isOwn: isOwn)
        }
    }

    /// Messages of others than a participant that the user sees, the newest first.
    private func messages(
        at positions: ClosedRange<Int64>, of owner: ReceiptOwner, limit: Int
    ) throws -> [(id: Message.ID, position: Position)] {
        guard limit > 0 else { return [] }
        return try transaction.rows(
            """
            SELECT m.id, m.position FROM messages m
            WHERE m.application = \(application) AND m.conversation = \(owner.conversation)
                AND m.position BETWEEN \(positions.lowerBound) AND \(positions.upperBound)
                AND (m.sender_user IS NULL OR m.sender_user <> \(owner.user)) AND \(feed.isShown)
            ORDER BY m.position DESC LIMIT \(limit)
            """
        ) { row in (try row.id(0) as Message.ID, try row.position(1)) }
    }

    /// Whether a participant has read every message of others up to a position that the user sees.
    private func hasReadAll(
        through last: Position, _ view: FeedView, _ owner: ReceiptOwner, _ known: Receipts
    ) throws -> Bool {
        guard view.bottom <= last else { return false }
        let missing = IntervalSet(view.bottom.number...last.number).subtracting(known.read)
        // The participant's own messages are no receipts; a list with many holes is not worth a search.
        guard missing.intervals.count <= 16 else { return false }
        for interval in missing.intervals {
            guard try messages(at: interval, of: owner, limit: 1).isEmpty else { return false }
        }
        return true
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
