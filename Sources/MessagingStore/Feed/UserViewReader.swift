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

/// Reads objects as one user sees them, each kind with a constant number of statements.
struct UserViewReader {
    let transaction: Transaction
    let user: UserID
    let application: Application.ID
    /// The conversations that the user sees, as far as they were read.
    private var views: [Conversation.ID: FeedView?] = [:]

    init(_ transaction: Transaction, of user: UserID, in application: Application.ID) {
        self.transaction = transaction
        self.user = user
        self.application = application
    }

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

    /// Which of some users the user follows.
    func followed(among users: Set<UserID>) throws -> Set<UserID> {
        guard !users.isEmpty else { return [] }
        return Set(
            try transaction.rows(
                """
                SELECT followed FROM following
                WHERE application = \(application) AND follower = \(user)
                    AND followed \(in: users)
                """
            ) { row in try row.user(0) })
    }

    /// The announcements that the user has received.
    func announcements(_ ids: [Announcement.ID]) throws -> [Announcement.ID: AnnouncementView] {
        guard !ids.isEmpty else { return [:] }
        let copies = try transaction.announcementCopies(ids, for: user, in: application)
        let views = try transaction.views(of: copies, in: application)
        return Dictionary(views.map { view in (view.announcement.id, view) }) { first, _ in first }
    }
}
