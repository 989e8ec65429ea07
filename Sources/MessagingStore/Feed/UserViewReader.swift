import Messaging
import SQL

/// A conversation that the user of a feed sees.
struct FeedView {
    let id: Conversation.ID
    let participant: Participant
    /// The last position of the conversation.
    let last: Position

    var key: ViewKey { ViewKey(conversation: id, user: participant.userID) }

    /// The highest position within the bounds of the view.
    var top: Position { participant.leftAfter ?? last }

    /// The lowest position within the bounds of the view.
    var bottom: Position { participant.clearedTo.next }

    /// Reads the columns of `Participant`, the conversation, and its last position.
    init(_ row: borrowing Row) throws {
        id = try row.id(6)
        participant = try Participant(row)
        last = try row.position(7)
    }

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

    fileprivate mutating func add(_ mark: SharedReads.Mark) {
        last = max(last, mark.position)
        switch mark.kind {
        case .window: window = max(window, mark.position)
        case .viewWindow:
            window = max(window, mark.position)
            if mark.isGone { goneSince = mark.position } else { ownWindow = mark.position }
        default: break
        }
    }
}

/// Reads objects as one user sees them, each kind with a constant number of statements.
struct UserViewReader {
    let user: UserID
    /// What was read already, possibly for other users too.
    let shared: SharedReads

    var transaction: Transaction { shared.transaction }
    var application: Application.ID { shared.application }

    private func key(_ id: Conversation.ID) -> ViewKey { ViewKey(conversation: id, user: user) }

    /// Reads which of the conversations the user sees.
    func readViews(of ids: some Sequence<Conversation.ID>) throws {
        try shared.readViews(ids.map(key))
    }

    /// The conversation as far as the user sees it.
    func view(of id: Conversation.ID) -> FeedView? { shared.view(key(id)) }

    /// When conversations have changed for the user.
    func marks(of ids: [Conversation.ID]) throws -> [Conversation.ID: FeedMarks] {
        try shared.readMarks(ids.map(key))
        var found: [Conversation.ID: FeedMarks] = [:]
        for id in ids {
            let isFormer = view(of: id)?.participant.isFormer == true
            let marks = shared.marks(key(id)).filter { mark in
                !isFormer || mark.kind != .conversation
            }
            guard !marks.isEmpty else { continue }
            var sum = FeedMarks()
            for mark in marks { sum.add(mark) }
            found[id] = sum
        }
        return found
    }

    /// Rows of conversations that the user sees.
    func rows(of ids: [Conversation.ID]) throws -> [ConversationViewRow] {
        try shared.readRows(ids.map(key))
        return ids.compactMap { id in shared.row(key(id)) }
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

    /// Messages as the user sees them, in conversations that the user sees.
    func snapshots(of ids: [Message.ID]) throws -> [Message.ID: MessageSnapshot] {
        try shared.readMessages(ids)
        try shared.readReceipts(
            of: shared.wideConversations(of: ids).map { id in
                ReceiptOwner(conversation: id, user: user)
            })
        return Dictionary(
            ids.compactMap { id in
                shared.snapshot(of: id, seenBy: user).map { snapshot in (id, snapshot) }
            }
        ) { first, _ in first }
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
