public import Messaging
import SQL

/// Which of some users events concern, so that their feeds are read again (Y1).
public struct FeedActivity: Sendable {
    /// The users whose feeds may have changed.
    public let users: Set<UserID>
    /// The users whose feeds have changed by receipts of others in wide conversations only; their clients get these at
    /// most once a second (ruling 38).
    public let later: Set<UserID>
    /// The last position that was examined.
    public let through: LogPosition
    /// The events among them that end sessions.
    public let endings: [Ending]

    /// What ends the streams of sessions (R92).
    public enum Ending: Equatable, Sendable {
        /// One session.
        case session(Session.ID)
        /// All sessions of a user.
        case sessions(of: UserID)
        /// All sessions of the application.
        case all
    }
}

extension MessagingStore {
    /// The maximum number of events that are examined at once.
    private static let activityLimit = 256

    /// Finds out which of some users the events after a position concern: a constant number of statements, however many
    /// users there are and however many events.
    ///
    /// - Returns: `nil` if there is no event.
    public func feedActivity(
        after position: LogPosition, among users: Set<UserID>, in application: Application.ID
    ) async throws -> FeedActivity? {
        let events = try await events(
            after: position, limit: Self.activityLimit, in: application)
        guard let last = events.last else { return nil }
        var audience = FeedAudience()
        for recorded in events { audience.add(recorded.event) }
        let found = audience
        let concerned = try await database.read { transaction in
            try transaction.users(found, among: users, in: application)
        }
        return FeedActivity(
            users: concerned.users, later: concerned.later, through: last.position,
            endings: audience.endings)
    }
}

/// The users that events concern, as far as the events name them.
private struct FeedAudience {
    var users: Set<UserID> = []
    /// Those that see one of these conversations.
    var conversations: Set<Conversation.ID> = []
    /// Those that see the receipts of others in one of these conversations.
    var receipts: Set<Conversation.ID> = []
    /// Those that follow one of these users.
    var identities: Set<UserID> = []
    /// Whether an event concerns users that it does not name.
    var isOpen = false
    var endings: [FeedActivity.Ending] = []

    mutating func add(_ event: Event) {
        switch event {
        case .identityReplaced(let payload): identities.insert(payload.identity.userID)
        case .identityPatched(let payload): identities.insert(payload.user)
        case .identityDeleted(let payload): identities.insert(payload.user)
        case .followingChanged(let payload): users.insert(payload.follower)
        case .userSuspended(let payload) where payload.isSuspended:
            endings.append(.sessions(of: payload.user))
        case .sessionEnded(let payload): endings.append(.session(payload.session))
        case .sessionsEnded(let payload): endings.append(.sessions(of: payload.user))
        case .applicationSuspended(let payload) where payload.isSuspended: endings.append(.all)
        case .conversationCreated(let payload): conversations.insert(payload.conversation.id)
        case .conversationMatched(let payload): conversations.insert(payload.conversation)
        case .conversationMerged(let payload): conversations.insert(payload.winner)
        case .conversationShown(let payload): users.formUnion(payload.users)
        case .conversationAnnounced(let payload): conversations.insert(payload.conversation)
        case .conversationHidden(let payload): users.insert(payload.user)
        case .participantsChanged(let payload):
            conversations.insert(payload.conversation)
            // They may not see the conversation, but those that they followed through it end.
            users.formUnion(payload.added + payload.removed)
        case .metadataChanged(let payload): conversations.insert(payload.conversation)
        // The rows of its participants are deleted.
        case .conversationDeleted: isOpen = true
        case .messageSent(let payload): conversations.insert(payload.message.conversation)
        case .receiptsRecorded(let payload):
            users.insert(payload.user)
            receipts.insert(payload.conversation)
        case .partsChanged(let payload): conversations.insert(payload.conversation)
        case .messageDeleted(let payload): conversations.insert(payload.message.conversation)
        case .messageHidden(let payload): users.insert(payload.user)
        case .announcementSent(let payload): users.formUnion(payload.recipients)
        case .announcementReceived(let payload): users.insert(payload.user)
        case .announcementDeleted(let payload): users.insert(payload.user)
        case .recordImported: isOpen = true
        default: break
        }
    }
}

extension Transaction {
    /// The users that an audience contains, and those that it contains only for receipts in wide conversations.
    fileprivate func users(
        _ audience: FeedAudience, among users: Set<UserID>, in application: Application.ID
    ) throws -> (users: Set<UserID>, later: Set<UserID>) {
        guard !audience.isOpen else { return (users, []) }
        var found = audience.users.union(audience.identities).intersection(users)
        var later: Set<UserID> = []
        let conversations = audience.conversations.union(audience.receipts)
        if !conversations.isEmpty {
            let wide = try wideConversations(among: Array(conversations), in: application)
            found.formUnion(
                Set(
                    try rows(
                        """
                        SELECT DISTINCT user_id FROM participants
                        WHERE application = \(application)
                            AND conversation \(in: conversations.subtracting(wide))
                            AND state = 'shown'
                        """
                    ) { row in try row.user(0) }
                ).intersection(users))
            for id in wide.intersection(audience.conversations) {
                found.formUnion(
                    try participants(of: id, among: users.subtracting(found), in: application))
            }
            for id in wide.subtracting(audience.conversations) {
                let rest = users.subtracting(found).subtracting(later)
                later.formUnion(try participants(of: id, among: rest, in: application))
            }
        }
        for identity in audience.identities {
            for chunk in users.subtracting(found).sorted().chunks(of: 1024) {
                found.formUnion(
                    try rows(
                        """
                        SELECT follower FROM following
                        WHERE application = \(application) AND follower \(in: chunk)
                            AND followed = \(identity)
                        """
                    ) { row in try row.user(0) })
            }
        }
        return (found, later.subtracting(found))
    }

    /// Those of some users that see a conversation; for one with many participants.
    private func participants(
        of conversation: Conversation.ID, among users: Set<UserID>, in application: Application.ID
    ) throws -> Set<UserID> {
        var found: Set<UserID> = []
        for chunk in users.sorted().chunks(of: 1024) {
            found.formUnion(
                try rows(
                    """
                    SELECT user_id FROM participants
                    WHERE application = \(application)
                        AND conversation = \(conversation) AND user_id \(in: chunk)
                        AND state = 'shown'
                    """
                ) { row in try row.user(0) })
        }
        return found
    }
}
