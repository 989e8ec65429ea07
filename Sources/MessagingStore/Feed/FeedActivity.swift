public import Messaging
import SQL

/// Which of some users events concern, and what the readers of these users are given of the events (Y1).
public struct FeedActivity: Sendable {
    /// The users whose feeds may have changed.
    public internal(set) var users: Set<UserID> = []
    /// The users whose feeds have changed by receipts of others in wide conversations only; their clients get these at
    /// most once a second (ruling 38).
    public internal(set) var later: Set<UserID> = []
    /// The last position that was examined.
    public let through: LogPosition
    /// The events among them that end sessions.
    public internal(set) var endings: [Ending] = []
    /// The users that have sent a message, where, and the position of the event: typing ends with it (client-api §5.7).
    public internal(set) var sent:
        [(user: UserID, conversation: Conversation.ID, position: LogPosition)] = []
    /// What the readers of users are given that have everything before the events. The other readers of `users` read
    /// for themselves.
    public internal(set) var contents: [UserID: [Interest: Content]] = [:]

    /// What ends the streams of sessions (R92).
    public enum Ending: Equatable, Sendable {
        /// One session.
        case session(Session.ID)
        /// All sessions of a user.
        case sessions(of: UserID)
        /// All sessions of the application.
        case all
    }

    /// What a reader wants of events that concern its user.
    public enum Interest: Hashable, Sendable {
        /// Nothing but to know that there are some.
        case position
        /// A page of the feed of the user, with the history that the client wants.
        case page(FeedHistory, limit: Int, bytes: Int64)
        /// The changes that the user sees.
        case changes
    }

    /// What a reader is given.
    public enum Content: Sendable {
        /// A page of the feed of the user.
        case page(FeedPage)
        /// The changes that the user sees.
        case changes(UserChangePage)
    }
}

extension MessagingStore {
    /// The maximum number of events that are examined at once.
    private static let activityLimit = 1000

    /// Finds out which of some users the events after a position concern, and reads what their readers are given: with
    /// a constant number of statements, however many users there are and however many events.
    ///
    /// - Parameter readers: The users, and what their readers want.
    /// - Returns: `nil` if there is no event.
    public func feedActivity(
        after position: LogPosition, among readers: [UserID: Set<FeedActivity.Interest>],
        in application: Application.ID
    ) async throws -> FeedActivity? {
        let epoch = try await epoch()
        return try await database.read { transaction in
            let extent = try transaction.logExtent(in: application)
            guard position < extent.end else { return nil }
            let page = try transaction.events(
                after: position, through: extent.end, types: nil, limit: Self.activityLimit,
                in: application)
            let isWhole = page.items.last?.position == extent.end && position >= extent.trimmed
            guard let last = page.items.last, position >= extent.trimmed else {
                // The users that the trimmed events concerned are unknown.
                return FeedActivity(users: Set(readers.keys), through: extent.end)
            }
            let shared = SharedReads(transaction, in: application)
            var (usual, other) = (FeedAudience(), FeedAudience())
            for recorded in page.items {
                if recorded.event.isUsual {
                    usual.add(recorded.event)
                } else {
                    other.add(recorded.event)
                }
            }
            if other.hasDeletions {
                other.users.formUnion(
                    try transaction.users(
                        among: readers.keys, touchedAfter: position, through: last.position,
                        in: application))
            }
            let found = try transaction.users(usual, among: readers, sharing: shared)
            let others = try transaction.users(other, among: readers, sharing: shared)
            var activity = FeedActivity(through: last.position)
            activity.users = found.users.union(others.users)
            activity.later = found.later.union(others.later).subtracting(activity.users)
            activity.endings = other.endings
            activity.sent = page.items.compactMap { recorded in
                guard case .messageSent(let payload) = recorded.event,
                    case .user(let user) = payload.message.sender
                else { return nil }
                return (user, payload.message.conversation, recorded.position)
            }
            if isWhole {
                var batch = LiveBatch(
                    page.items, after: position, through: last.position, epoch: epoch,
                    sharing: shared)
                activity.contents = try batch.read(
                    for: found.users.subtracting(others.users).subtracting(others.later),
                    seeing: found.views, wide: found.wide, wanting: readers)
            }
            return activity
        }
    }
}

/// The users that an audience contains.
private struct FoundUsers {
    var users: Set<UserID> = []
    /// Those that it contains only for receipts in wide conversations.
    var later: Set<UserID> = []
    /// What the users see of the conversations that are not wide.
    var views: [ViewKey] = []
    /// The wide conversations.
    var wide: Set<Conversation.ID> = []
}

extension Transaction {
    fileprivate func users(
        _ audience: FeedAudience, among readers: [UserID: Set<FeedActivity.Interest>],
        sharing shared: SharedReads
    ) throws -> FoundUsers {
        let application = shared.application
        var found = FoundUsers()
        guard !audience.isOpen else {
            found.users = Set(readers.keys)
            return found
        }
        found.users = audience.users.union(audience.identities).filter { user in
            readers[user] != nil
        }
        let conversations = audience.conversations.union(audience.receipts)
        if !conversations.isEmpty {
            found.wide = try wideConversations(among: Array(conversations), in: application)
            let views = try views(
                of: conversations.subtracting(found.wide), among: readers, in: application)
            shared.add(views)
            found.views = views.map(\.key)
            found.users.formUnion(found.views.map(\.user))
            for id in found.wide.intersection(audience.conversations) {
                let rest = readers.keys.filter { user in !found.users.contains(user) }
                found.users.formUnion(
                    try participants(of: id, in: "'shown'", among: rest, in: application))
            }
            for id in found.wide.subtracting(audience.conversations) {
                let rest = readers.keys.filter { user in
                    !found.users.contains(user) && !found.later.contains(user)
                }
                found.later.formUnion(
                    try participants(of: id, in: "'shown'", among: rest, in: application))
            }
        }
        for id in audience.cleared {
            let rest = readers.keys.filter { user in !found.users.contains(user) }
            found.users.formUnion(
                try participants(of: id, in: "'cleared'", among: rest, in: application))
        }
        for identity in audience.identities {
            let rest = readers.keys.filter { user in !found.users.contains(user) }
            for chunk in rest.sorted().chunks(of: 1024) {
                found.users.formUnion(
                    try rows(
                        """
                        SELECT follower FROM following
                        WHERE application = \(application) AND follower \(in: chunk)
                            AND followed = \(identity)
                        """
                    ) { row in try row.user(0) })
            }
        }
        for announcement in audience.announcements {
            let rest = readers.keys.filter { user in !found.users.contains(user) }
            for chunk in rest.sorted().chunks(of: 1024) {
                found.users.formUnion(
                    try rows(
                        """
                        SELECT user_id FROM announcement_recipients
                        WHERE application = \(application) AND announcement = \(announcement)
                            AND user_id \(in: chunk)
                        """
                    ) { row in try row.user(0) })
            }
        }
        found.later.subtract(found.users)
        return found
    }

    /// Those of some users whose own streams have changed after a position up to another.
    fileprivate func users(
        among users: some Sequence<UserID>, touchedAfter position: LogPosition,
        through end: LogPosition, in application: Application.ID
    ) throws -> Set<UserID> {
        var found: Set<UserID> = []
        for chunk in users.sorted().chunks(of: 1024) {
            let streams = SQLArray.blobs(chunk.map { user in Array(user.text.utf8) })
            found.formUnion(
                try rows(
                    """
                    SELECT DISTINCT stream FROM touched
                    WHERE application = \(application) AND stream \(in: streams)
                        AND position > \(position) AND position <= \(end)
                    """
                ) { row in UserID(try row.blob(0)) }.compactMap(\.self))
        }
        return found
    }

    /// What some users see of conversations.
    private func views(
        of conversations: Set<Conversation.ID>,
        among readers: [UserID: Set<FeedActivity.Interest>], in application: Application.ID
    ) throws -> [FeedView] {
        guard !conversations.isEmpty else { return [] }
        return try rows(
            """
            SELECT \(raw: Participant.columns), p.conversation, c.last_position
            FROM participants p
            JOIN conversations c ON c.application = p.application AND c.id = p.conversation
            WHERE p.application = \(application) AND p.conversation \(in: conversations)
                AND p.state = 'shown'
            """
        ) { row in readers[try row.user(0)] == nil ? nil : try FeedView(row) }.compactMap(\.self)
    }

    /// Those of some users to whom a conversation is in a state.
    private func participants(
        of conversation: Conversation.ID, in state: StaticString, among users: [UserID],
        in application: Application.ID
    ) throws -> Set<UserID> {
        var found: Set<UserID> = []
        for chunk in users.sorted().chunks(of: 1024) {
            found.formUnion(
                try rows(
                    """
                    SELECT user_id FROM participants
                    WHERE application = \(application)
                        AND conversation = \(conversation) AND user_id \(in: chunk)
                        AND state = \(raw: state)
                    """
                ) { row in try row.user(0) })
        }
        return found
    }
}
