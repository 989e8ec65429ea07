import Messaging
import MessagingWire

/// The users, conversations, messages and announcements of an application, by the rules of the domain.
/// It shares no code with the server.
///
/// All counts and views are computed on request from the messages, so that each rule is in one place.
struct ReferenceModel {
    enum Status: String, Comparable {
        case sent, delivered, read

        static func < (one: Status, other: Status) -> Bool { one.rank < other.rank }
        private var rank: Int { self == .sent ? 0 : self == .delivered ? 1 : 2 }
    }

    /// The identity of a user.
    struct Identity {
        var displayName: String?
        var isBot = false
        /// Whether a request has created it, not only named the user.
        var isCreated = false
    }

    struct User {
        /// Naming a participant creates one without names; naming a blocked user does not (ruling 10).
        var identity: Identity?
        var isSuspended = false
        var blocks: Set<ModelUser> = []
        var externalCount: Int64 = 0
    }

    enum Sender {
        case service(String)
        case user(ModelUser)

        var user: ModelUser? { if case .user(let user) = self { user } else { nil } }
    }

    struct Part {
        let index: Int
        var id: String?
        var text: String
        var updatedAt: String?
    }

    struct Message {
        let id: String
        let conversation: Int
        let position: Int64
        let sender: Sender
        let sentAt: String
        var parts: [Part]
        var partsMade: Int
        var updatedAt: String?
        /// Participants at the time of sending, in their order (R71).
        let recipients: [ModelUser]
        var status: [ModelUser: Status]
        /// The users from whom a block hides it permanently (ruling 20).
        let blocked: Set<ModelUser>
        /// The users that deleted it for themselves (R29).
        var hidden: Set<ModelUser> = []
        var isDeleted = false
    }

    struct View {
        enum State { case unseen, shown, cleared, left }
        var state: State
        /// The last position before the latest joining; messages up to it are history (R12).
        var joined: Int64
        /// The last position before the removal of a former participant (R14).
        var removed: Int64?
        /// The last position that the user has deleted with the conversation (R16).
        var cleared: Int64 = 0
        var frozenMetadata = LogReplica.Tree.object([:])
        /// The positions of earlier participations.
        var past: [ClosedRange<Int64>] = []

        /// Whether the user was a participant when a message was sent.
        func reaches(_ position: Int64) -> Bool {
            removed.map { position <= $0 } ?? true
                && (position > joined || past.contains { $0.contains(position) })
        }
    }

    struct ConversationState {
        let id: String
        let createdAt: String
        var participants: [ModelUser]
        var isDistinct: Bool
        var metadata: LogReplica.Tree
        var isAnnounced: Bool
        var isDeleted = false
        var views: [ModelUser: View] = [:]
        var messages: [Int] = []
        var last: Int64 = 0
        var version: Int64 = 1
    }

    struct Announcement {
        let id: String
        let sender: Sender
        let sentAt: String
        let text: String
        let recipients: [ModelUser]
        /// The statuses of copies that are not deleted.
        var status: [ModelUser: Status]
    }

    /// A rule that is wrong on purpose, for tests of the search for a minimal sequence.
    enum WrongRule: Sendable {
        case deletedMessagesStayUnread
        case changedSetsStayDistinct
    }

    let application: String
    var wrongRule: WrongRule?
    /// The number of participants above which a conversation is wide (ruling 38).
    let wideLimit: Int
    /// The time of the requests, in milliseconds since 1970.
    var now: Int64 = 0

    var users: [ModelUser: User] = [:]
    var conversations: [ConversationState] = []
    var messages: [Message] = []
    var announcements: [Announcement] = []
    /// Ids and aliases.
    var conversationNames: [String: Int] = [:]
    var conversationKeys: [String: (conversation: Int, isMatch: Bool)] = [:]
    var messageNames: [String: Int] = [:]
    var announcementNames: [String: Int] = [:]
    /// The ids of the objects that operations created.
    private var made: [Int: String] = [:]

    init(application: String, wideAbove wideLimit: Int, wrongRule: WrongRule? = nil) {
        self.application = application
        self.wideLimit = wideLimit
        self.wrongRule = wrongRule
    }

    var time: String { TimestampJSON.text(Timestamp(milliseconds: now)) }

    /// The id proposed by the caller under a number.
    func ownID(_ number: Int) -> String {
        application.prefix(24) + String(String(number + 500_000_000_000).suffix(12))
    }

    func name(_ number: Int) -> String { made[number] ?? ownID(number) }
    func conversation(_ number: Int) -> Int? { conversationNames[name(number)] }
    func message(_ number: Int) -> Int? { messageNames[name(number)] }
    func announcement(_ number: Int) -> Int? { announcementNames[name(number)] }

    mutating func remember(_ number: Int, _ id: String) { made[number] = id }

    // MARK: - Users

    /// Creates users that are named for the first time (platform-api §3.9).
    mutating func touch(_ named: [ModelUser], withIdentity: Bool = false) {
        for user in named where users[user] == nil {
            users[user] = User(identity: withIdentity ? Identity() : nil)
        }
    }

    mutating func touch(participants: [ModelUser]) {
        touch(participants)
        for user in participants where users[user]?.identity == nil {
            users[user]?.identity = Identity()
        }
    }

    // MARK: - Conversations

    func match(_ participants: [ModelUser]) -> Int? {
        conversations.firstIndex { conversation in
            conversation.isDistinct && !conversation.isDeleted
                && Set(conversation.participants) == Set(participants)
        }
    }

    /// Shows a match to the caller: to one user (R53), or to all (ruling 15).
    mutating func show(_ index: Int, to requester: ModelUser?) {
        if let requester {
            conversations[index].views[requester]?.state = .shown
        } else if !conversations[index].isAnnounced {
            conversations[index].isAnnounced = true
            for user in conversations[index].participants
            where conversations[index].views[user]?.state == .unseen {
                conversations[index].views[user]?.state = .shown
            }
        }
    }

    mutating func changeParticipants(of index: Int, to users: [ModelUser]) {
        let before = conversations[index].participants
        guard Set(before) != Set(users) else { return }
        let last = conversations[index].last
        for user in before where !users.contains(user) {
            guard var view = conversations[index].views[user] else { continue }
            view.removed = last
            view.frozenMetadata = conversations[index].metadata
            if view.joined < last { view.past.append(view.joined + 1...last) }
            conversations[index].views[user] = view
        }
        for user in users where !before.contains(user) {
            let live = conversations[index].messages.map { messages[$0] }.filter { !$0.isDeleted }
            let isHidden = !live.isEmpty && live.allSatisfy { $0.blocked.contains(user) }
            var view = conversations[index].views[user] ?? View(state: .unseen, joined: last)
            view.joined = last
            view.removed = nil
            if conversations[index].isAnnounced && !isHidden { view.state = .shown }
            if view.state != .shown { view.state = .unseen }
            conversations[index].views[user] = view
        }
        conversations[index].participants = users
        conversations[index].version += 1
        if wrongRule != .changedSetsStayDistinct { conversations[index].isDistinct = false }
        touch(participants: users.filter { !before.contains($0) })
    }

    /// The users who never receive a message of a sender.
    func blocked(_ sender: ModelUser?) -> Set<ModelUser> {
        guard let sender else { return [] }
        let owners = users.filter { $0.value.blocks.contains(sender) }.keys
        return Set(owners).union(users[sender]?.blocks ?? []).subtracting([sender])
    }

    // MARK: - Views

    func isVisible(_ message: Message, to user: ModelUser) -> Bool {
        let conversation = conversations[message.conversation]
        guard let view = conversation.views[user], view.state == .shown, !conversation.isDeleted
        else {
            return false
        }
        return !message.isDeleted && !message.blocked.contains(user)
            && !message.hidden.contains(user) && message.position > view.cleared
            && message.position <= view.removed ?? .max
    }

    func isUnread(_ message: Message, to user: ModelUser) -> Bool {
        guard let view = conversations[message.conversation].views[user],
            message.sender.user != user
        else {
            return false
        }
        return message.position > view.joined && message.status[user] != .read
    }

    /// Oldest first.
    func visible(_ index: Int, to user: ModelUser) -> [Message] {
        conversations[index].messages.map { messages[$0] }.filter { isVisible($0, to: user) }
    }

    func unreadCount(_ index: Int, of user: ModelUser) -> Int {
        let own = conversations[index].messages.map { messages[$0] }
        guard wrongRule == .deletedMessagesStayUnread else {
            return own.count { isVisible($0, to: user) && isUnread($0, to: user) }
        }
        return own.count { message in
            var kept = message
            kept.isDeleted = false
            return isVisible(kept, to: user) && isUnread(kept, to: user)
        }
    }

    func shows(_ index: Int, to user: ModelUser) -> Bool {
        !conversations[index].isDeleted && conversations[index].views[user]?.state == .shown
    }

    /// The conversations in a user's list, in its order (ruling 17).
    func list(of user: ModelUser, byLastMessage: Bool) -> [Int] {
        conversations.indices.filter { shows($0, to: user) }.map { index in
            let last = byLastMessage ? visible(index, to: user).last?.sentAt : nil
            return (index, last ?? conversations[index].createdAt, conversations[index].id)
        }.sorted { ($0.1, $0.2) > ($1.1, $1.2) }.map(\.0)
    }
}
