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
        /// Everyone who blocked the sender, or was blocked by the sender, when it was sent (rulings 20).
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

    struct Talk {
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

    var talks: [Talk] = []
    var blocks: [UserID: Set<UserID>] = [:]

    // MARK: - What happens

    mutating func create(
        _ id: Conversation.ID, _ users: [UserID], isDistinct: Bool, by creator: UserID?,
        at now: Timestamp
    ) {
        var talk = Talk(
            id: id, createdAt: now, participants: users, isDistinct: isDistinct,
            isAnnounced: creator == nil)
        for user in users {
            let isShown = creator == nil || user == creator
            talk.views[user] = View(state: isShown ? .shown : .unseen, joined: 0)
        }
        talks.append(talk)
    }

    /// The live distinct one of exactly these users.
    func match(_ users: [UserID]) -> Int? {
        talks.firstIndex { talk in
            talk.isDistinct && !talk.isDeleted && Set(talk.participants) == Set(users)
        }
    }

    mutating func meet(_ index: Int, by asker: UserID?) {
        guard let asker else {
            guard !talks[index].isAnnounced else { return }
            talks[index].isAnnounced = true
            for user in talks[index].participants where talks[index].views[user]?.state == .unseen {
                talks[index].views[user]?.state = .shown
            }
            return
        }
        talks[index].views[asker]?.state = .shown
    }

    mutating func send(_ id: Message.ID, to index: Int, by sender: UserID?, at now: Timestamp) {
        let present = talks[index].participants
        var hidden: Set<UserID> = []
        if let sender {
            hidden = Set(blocks.filter { _, others in others.contains(sender) }.keys)
                .union(blocks[sender] ?? []).subtracting([sender])
        }
        talks[index].isAnnounced = true
        talks[index].sent.append(
            Sent(
                id: id, position: talks[index].last + 1, sender: sender, at: now,
                reached: Set(present), blocked: hidden, hidden: hidden))
        for user in present where !hidden.contains(user) {
            talks[index].views[user]?.state = .shown
        }
    }

    mutating func set(_ users: [UserID], in index: Int) {
        let before = talks[index].participants
        guard Set(before) != Set(users) else { return }
        let (last, topic) = (talks[index].last, talks[index].topic)
        for user in before where !users.contains(user) {
            talks[index].views[user]?.removed = last
            talks[index].views[user]?.frozenTopic = topic
        }
        for user in users where !before.contains(user) {
            let live = talks[index].sent.filter { sent in !sent.isGone }
            let isHidden = !live.isEmpty && live.allSatisfy { sent in sent.blocked.contains(user) }
            let isAnnounced = talks[index].isAnnounced && !isHidden
            var view = talks[index].views[user] ?? View(state: .unseen, joined: last)
            view.joined = last
            view.removed = nil
            if isAnnounced { view.state = .shown }
            if view.state != .shown { view.state = .unseen }
            talks[index].views[user] = view
        }
        talks[index].participants = users
        talks[index].isDistinct = false
    }

    mutating func read(_ positions: ClosedRange<Int64>, of index: Int, by user: UserID) {
        let talk = talks[index]
        for (place, sent) in talk.sent.enumerated()
        where positions.contains(sent.position) && isVisible(sent, to: user, in: talk)
            && sent.reached.contains(user)
        {
            talks[index].sent[place].readers.insert(user)
        }
    }

    // MARK: - What is seen

    func isVisible(_ sent: Sent, to user: UserID, in talk: Talk) -> Bool {
        guard let view = talk.views[user], view.state == .shown, !talk.isDeleted else {
            return false
        }
        return !sent.isGone && !sent.hidden.contains(user) && sent.position > view.cleared
            && sent.position <= view.removed ?? .max
    }

    func isUnread(_ sent: Sent, to user: UserID, in talk: Talk) -> Bool {
        guard let view = talk.views[user] else { return false }
        return sent.sender != user && sent.position > view.joined && !sent.readers.contains(user)
    }

    /// Oldest first.
    func messages(in talk: Talk, seenBy user: UserID) -> [Sent] {
        talk.sent.filter { sent in isVisible(sent, to: user, in: talk) }
    }

    func list(of user: UserID, _ order: (Talk) -> Timestamp) -> [Talk] {
        talks.filter { talk in !talk.isDeleted && talk.views[user]?.state == .shown }
            .sorted { left, right in (order(left), left.id) > (order(right), right.id) }
    }

    /// What a write on behalf of a user must come to; `nil` for success.
    func refusal(ofWriting user: UserID, in talk: Talk) -> Rejection? {
        guard !talk.isDeleted, let view = talk.views[user], view.state != .unseen else {
            return .notFound(.conversation)
        }
        return view.removed == nil ? nil : .accessDenied
    }

    func refusal(ofReading user: UserID, in talk: Talk) -> Rejection? {
        guard !talk.isDeleted, talk.views[user]?.state == .shown else {
            return .notFound(.conversation)
        }
        return nil
    }
}
