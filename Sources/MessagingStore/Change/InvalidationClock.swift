public import Messaging
import SystemSupport

/// Knows since when what answers are made of is as it is.
///
/// A change is announced before its commit and dated after it; in between nothing it touches counts as
/// unchanged. So whatever was read after a moment, and is unchanged since that moment, is what the
/// database holds now: no reader sees the change while another is still handed the old answer, and who
/// has the 2xx of a change sees it (`MessagingStore`, "Answers that are kept").
///
/// Things share slots by their hash. Two in one slot make each other look changed, which costs a
/// read and nothing else.
final class InvalidationClock: Sendable {
    /// A power of two; at eight bytes each they are touched only as changes are.
    private static let slotCount = 1 << 14

    private struct State {
        /// The time of the last change; each has its own.
        var time: UInt64 = 0
        var changedAt = [UInt64](repeating: 0, count: InvalidationClock.slotCount)
    }

    private let state = Locked(State())
    private let isAlone: Bool

    /// - Parameter isAlone: Whether all changes come by here; else nothing counts as unchanged.
    init(isAlone: Bool) { self.isAlone = isAlone }

    /// The time now: what is read from here on holds every change dated up to it.
    var moment: UInt64 { state.withLock { state in state.time } }

    /// Says that something is about to be changed, until ``end(_:)``.
    ///
    /// Changes are made one after the other, so nobody else has begun on it.
    func begin(_ subjects: [InvalidationSubject]) {
        state.withLock { state in
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = .max }
        }
    }

    /// Says that it was, or that nothing came of it.
    func end(_ subjects: [InvalidationSubject]) {
        state.withLock { state in
            state.time += 1
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = state.time }
        }
    }

    /// Whether nothing a message was made of was changed since it was read, or is being changed.
    func isUnchanged(_ basis: CacheValidity) -> Bool {
        guard isAlone else { return false }
        return state.withLock { state in
            state.changedAt[basis.conversation] <= basis.moment
                && state.changedAt[basis.sender] <= basis.moment
                && state.changedAt[basis.viewer] <= basis.moment
        }
    }

    /// Where the changes of something are dated.
    static func slot(of subject: InvalidationSubject) -> Int {
        subject.hashValue & (slotCount - 1)
    }
}

/// Something that answers show and events change.
enum InvalidationSubject: Hashable, Sendable {
    /// Whatever the messages of a conversation show to anybody, but for the name of their sender.
    case messages(Conversation.ID, Application.ID)
    /// What is known of a user.
    case user(UserID, Application.ID)
}

extension Event {
    /// What of messages that were sent before the event may look different after it.
    ///
    /// A sending adds a message and may bring the conversation back into a view; it changes nothing of
    /// what is shown already. Whatever else names a conversation counts, needed or not.
    func changes(in application: Application.ID) -> [InvalidationSubject] {
        switch self {
        case .messageSent, .messageScheduled, .scheduleEnded, .batchAccepted: []
        case .conversationCreated(let created):
            [.messages(created.conversation.id, application)]
        case .conversationMatched(let match): [.messages(match.conversation, application)]
        case .conversationMerged(let merge):
            [merge.winner, merge.loser].compactMap(\.self).map { id in .messages(id, application) }
        case .conversationShown(let shown): [.messages(shown.conversation, application)]
        case .conversationAnnounced(let id, _): [.messages(id, application)]
        case .conversationHidden(let hidden): [.messages(hidden.conversation, application)]
        case .participantsChanged(let change): [.messages(change.conversation, application)]
        case .metadataChanged(let change): [.messages(change.conversation, application)]
        case .conversationDeleted(let id, _): [.messages(id, application)]
        case .messageDeleted(_, let conversation, _): [.messages(conversation, application)]
        case .conversationRemoved(let removed): [.messages(removed.conversation.id, application)]
        case .messageRemoved(let removed): [.messages(removed.message.conversation, application)]
        case .messageHidden(let hidden): [.messages(hidden.conversation, application)]
        case .receiptsRecorded(let receipts): [.messages(receipts.conversation, application)]
        case .partsChanged(let change): [.messages(change.conversation, application)]
        case .identityNamed(let identity): [.user(identity.userID, application)]
        case .identityReplaced(let identity): [.user(identity.userID, application)]
        case .identityPatched(let change): [.user(change.user, application)]
        case .identityDeleted(let user): [.user(user, application)]
        case .userSuspended(let user, _, _): [.user(user, application)]
        case .recordImported(let record): record.changes(in: application)
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .contentUploaded, .contentWithdrawn, .contentOwned, .blocksChanged, .announcementSent,
            .announcementReceived, .announcementDeleted, .notificationSent, .followingChanged,
            .badgeSet, .sessionsEnded, .sessionLifetimeSet, .exportKeyChanged, .exportRequested,
            .exportStarted, .exportCompleted, .exportDeleted, .exportExpired, .exportErased,
            .exportScheduleChanged, .contentsErased, .webhookCreated, .webhookUpdated,
            .webhookSecretRotated, .webhookDeleted:
            []
        }
    }
}

extension ArchiveRecord {
    /// A message that comes may stand before others and count for all of them.
    fileprivate func changes(in application: Application.ID) -> [InvalidationSubject] {
        switch self {
        case .user(let moved): [.user(moved.user.id, application)]
        case .conversation(let moved): [.messages(moved.conversation.id, application)]
        case .message(let moved): [.messages(moved.message.conversation, application)]
        case .application, .relations, .content, .scheduled, .announcement, .key: []
        }
    }
}

/// What a message as somebody sees it was made of, and when that was read.
public struct CacheValidity: Sendable {
    /// Where the changes of its conversation, its sender and who looks are dated.
    let conversation, sender, viewer: Int
    let moment: UInt64

    init(
        _ message: Message, seenBy user: UserID?, readAfter moment: UInt64,
        in application: Application.ID
    ) {
        conversation = InvalidationClock.slot(of: .messages(message.conversation, application))
        // Who is nobody changes with the conversation.
        let slot = { [conversation] (user: UserID?) in
            user.map { user in InvalidationClock.slot(of: .user(user, application)) }
                ?? conversation
        }
        sender = slot(message.sender.userID)
        viewer = slot(user)
        self.moment = moment
    }
}

extension MessagingStore {
    /// One message as the system sees it, or as a user does, with what tells how long that is true.
    ///
    /// - Parameters:
    ///   - user: `nil` for the system.
    ///   - conversation: The one it must belong to; `nil` for any, and for a user.
    /// - Throws: As the readings without a basis.
    public func messageWithValidity(
        _ id: Message.ID, seenBy user: UserID?, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> (message: MessageSnapshot, basis: CacheValidity) {
        // Before the look: what is committed in between may or may not be in it.
        let moment = clock.moment
        let found =
            if let user {
                try await message(id, seenBy: user, in: application)
            } else {
                try await message(id, in: conversation, in: application)
            }
        return (
            found,
            CacheValidity(found.message, seenBy: user, readAfter: moment, in: application)
        )
    }

    /// Whether what was read is still what the database holds; never waits.
    public func holds(_ basis: CacheValidity) -> Bool { clock.isUnchanged(basis) }
}
