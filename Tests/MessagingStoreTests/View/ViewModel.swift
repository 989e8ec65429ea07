import Messaging

/// The expected views, computed naively: every message has its readers and the users who do not see it, and all
/// counts are computed on request. No code is shared with the store.
struct ViewModel {
    struct Sent {
        let id: Message.ID
        let position: Int64
        let sender: UserID?
        let at: Timestamp
        let reached: Set<UserID>
        /// The users who blocked the sender or were blocked by them when it was sent (ruling 20).
        let blocked: Set<UserID>
        var hidden: Set<UserID>
        var readers: Set<UserID> = []
        var isGone = false
    }

    struct View {
        enum State { case unseen, shown, cleared, left }
        var state: State
        var joined: Int64
        var removed: Int64?
        var cleared: Int64 = 0
        var frozenTopic = ""
    }

    struct ConversationModel {
        let id: Conversation.ID
        let createdAt: Timestamp
        var participants: [UserID]
        var isDistinct: Bool
        var isAnnounced: Bool
        var isDeleted = false
        var topic = ""
        var views: [UserID: View] = [:]
        var sent: [Sent] = []

        var last: Int64 { sent.last?.position ?? 0 }
    }

    var conversations: [ConversationModel] = []
    var blocks: [UserID: Set<UserID>] = [:]

    // MARK: - Changes

    mutating func create(
        _ id: Conversation.ID, _ users: [UserID], isDistinct: Bool, by creator: UserID?,
        at now: Timestamp
    ) {
        var conversation = ConversationModel(
            id: id, createdAt: now, participants: users, isDistinct: isDistinct,
            isAnnounced: creator == nil)
        for user in users {
            let isShown = creator == nil || user == creator
            conversation.views[user] = View(state: isShown ? .shown : .unseen, joined: 0)
        }
        conversations.append(conversation)
    }

    /// The distinct conversation of exactly these users that is not deleted.
    func match(_ users: [UserID]) -> Int? {
        conversations.firstIndex { conversation in
            conversation.isDistinct && !conversation.isDeleted
                && Set(conversation.participants) == Set(users)
        }
    }

    mutating func markMatched(_ index: Int, by requester: UserID?) {
        guard let requester else {
            guard !conversations[index].isAnnounced else { return }
            conversations[index].isAnnounced = true
            for user in conversations[index].participants
            where conversations[index].views[user]?.state == .unseen {
                conversations[index].views[user]?.state = .shown
            }
            return
        }
        conversations[index].views[requester]?.state = .shown
    }

    mutating func send(_ id: Message.ID, to index: Int, by sender: UserID?, at now: Timestamp) {
        let present = conversations[index].participants
        var hidden: Set<UserID> = []
        if let sender {
            hidden = Set(blocks.filter { _, others in others.contains(sender) }.keys)
                .union(blocks[sender] ?? []).subtracting([sender])
        }
        conversations[index].isAnnounced = true
        conversations[index].sent.append(
            Sent(
                id: id, position: conversations[index].last + 1, sender: sender, at: now,
                reached: Set(present), blocked: hidden, hidden: hidden))
        for user in present where !hidden.contains(user) {
            conversations[index].views[user]?.state = .shown
        }
    }

    mutating func set(_ users: [UserID], in index: Int) {
        let before = conversations[index].participants
        guard Set(before) != Set(users) else { return }
        let (last, topic) = (conversations[index].last, conversations[index].topic)
        for user in before where !users.contains(user) {
            conversations[index].views[user]?.removed = last
            conversations[index].views[user]?.frozenTopic = topic
        }
        for user in users where !before.contains(user) {
            let live = conversations[index].sent.filter { sent in !sent.isGone }
            let isHidden = !live.isEmpty && live.allSatisfy { sent in sent.blocked.contains(user) }
            let isAnnounced = conversations[index].isAnnounced && !isHidden
            var view = conversations[index].views[user] ?? View(state: .unseen, joined: last)
            view.joined = last
            view.removed = nil
            if isAnnounced { view.state = .shown }
            if view.state != .shown { view.state = .unseen }
            conversations[index].views[user] = view
        }
        conversations[index].participants = users
        conversations[index].isDistinct = false
    }

    mutating func read(_ positions: ClosedRange<Int64>, of index: Int, by user: UserID) {
        let conversation = conversations[index]
        for (messageIndex, sent) in conversation.sent.enumerated()
        where positions.contains(sent.position) && isVisible(sent, to: user, in: conversation)
            && sent.reached.contains(user)
        {
            conversations[index].sent[messageIndex].readers.insert(user)
        }
    }

    // MARK: - Views

    func isVisible(_ sent: Sent, to user: UserID, in conversation: ConversationModel) -> Bool {
        guard let view = conversation.views[user], view.state == .shown, !conversation.isDeleted
        else {
            return false
        }
        return !sent.isGone && !sent.hidden.contains(user) && sent.position > view.cleared
            && sent.position <= view.removed ?? .max
    }

    func isUnread(_ sent: Sent, to user: UserID, in conversation: ConversationModel) -> Bool {
        guard let view = conversation.views[user] else { return false }
        return sent.sender != user && sent.position > view.joined && !sent.readers.contains(user)
    }

    /// Oldest first.
    func messages(in conversation: ConversationModel, seenBy user: UserID) -> [Sent] {
        conversation.sent.filter { sent in isVisible(sent, to: user, in: conversation) }
    }

    func list(of user: UserID, _ order: (ConversationModel) -> Timestamp) -> [ConversationModel] {
        conversations.filter { conversation in
            !conversation.isDeleted && conversation.views[user]?.state == .shown
        }
        .sorted { left, right in (order(left), left.id) > (order(right), right.id) }
    }

    /// The expected rejection of a write on behalf of a user; `nil` for success.
    func refusal(ofWriting user: UserID, in conversation: ConversationModel) -> Rejection? {
        guard !conversation.isDeleted, let view = conversation.views[user], view.state != .unseen
        else {
            return .notFound(.conversation)
        }
        return view.removed == nil ? nil : .accessDenied
    }

    func refusal(ofReading user: UserID, in conversation: ConversationModel) -> Rejection? {
        guard !conversation.isDeleted, conversation.views[user]?.state == .shown else {
            return .notFound(.conversation)
        }
        return nil
    }
}
