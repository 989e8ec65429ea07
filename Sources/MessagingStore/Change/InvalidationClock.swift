public import Messaging
import SystemSupport

/// Tracks when each cached object last changed, so that a cached message can be returned without a query.
///
/// Its time is a counter of changes. A change marks its objects before the commit, and sets their time after it; in
/// between they count as changed. So an object that was read after a moment and has not changed since is as the
/// database holds it now: no client receives a cached message after another has seen the change, and a client that
/// has received the 2xx of a change sees it (see "Cached messages are invalidated by events" in the article of this
/// module).
///
/// Objects share slots by their hash. A collision makes an object look changed, which costs one query.
final class InvalidationClock: Sendable {
    /// A power of two, as ``slot(of:)`` needs. A slot has eight bytes.
    private static let slotCount = 1 << 14

    private struct State {
        /// The time of the last change; each change has its own.
        var time: UInt64 = 0
        /// The time of the last change of each slot; the maximum while a change is being committed.
        var changedAt = [UInt64](repeating: 0, count: InvalidationClock.slotCount)
        /// The logs that are followed; empty if all changes go through this process.
        var logs: [Application.ID: FollowedLog] = [:]

        func isUnchanged(_ validity: CacheValidity) -> Bool {
            changedAt[validity.conversation] <= validity.moment
                && changedAt[validity.sender] <= validity.moment
                && changedAt[validity.viewer] <= validity.moment
        }
    }

    /// The log of an application, from which the changes of all processes are dated.
    private struct FollowedLog {
        /// The last position whose change is dated.
        var position: LogPosition
        /// The time since which every change is dated.
        let start: UInt64
    }

    private let state = Locked(State())
    /// Whether all changes go through this process. Otherwise they are read from the log, and
    /// ``isUnchanged(_:)`` is always false, because it does not read the log.
    let isAlone: Bool

    init(isAlone: Bool) { self.isAlone = isAlone }

    /// The current time: a read that starts now sees every change dated up to it.
    var moment: UInt64 { state.withLock { state in state.time } }

    /// Marks objects as being changed, until ``end(_:)``.
    ///
    /// Commits are made one after the other, so no mark of an earlier commit is left.
    func begin(_ subjects: [InvalidationSubject]) {
        state.withLock { state in
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = .max }
        }
    }

    /// Sets the time of changed objects, after the commit has succeeded or failed.
    func end(_ subjects: [InvalidationSubject]) {
        state.withLock { state in
            state.time += 1
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = state.time }
        }
    }

    /// Whether no object that a cached message depends on has changed since it was read, or is being changed.
    func isUnchanged(_ validity: CacheValidity) -> Bool {
        guard isAlone else { return false }
        return state.withLock { state in state.isUnchanged(validity) }
    }

    /// Returns for each of the messages whether it was read at or before a moment, and no object that it depends on
    /// has changed since it was read, or is being changed.
    func areUnchanged(
        _ validities: [CacheValidity], at moment: UInt64, in application: Application.ID
    ) -> [Bool] {
        state.withLock { state in
            let start = isAlone ? 0 : state.logs[application]?.start ?? .max
            return validities.map { validity in
                start <= validity.moment && validity.moment <= moment
                    && state.isUnchanged(validity)
            }
        }
    }

    /// The position up to which the changes of an application's log are dated; `nil` if the log is not followed yet.
    func position(in application: Application.ID) -> LogPosition? {
        state.withLock { state in state.logs[application]?.position }
    }

    /// Dates the changes between two positions of a log, unless another read has dated them meanwhile.
    ///
    /// - Parameters:
    ///   - subjects: The objects that the events between the positions change.
    ///   - first: A position up to which the changes were dated before.
    ///   - last: The end of the log in the snapshot of the database that was read.
    ///   - moment: The time of the clock before that snapshot.
    /// - Returns: The time up to which the snapshot shows every change; `nil` if the log was restarted meanwhile.
    func follow(
        _ subjects: [InvalidationSubject], after first: LogPosition, through last: LogPosition,
        readAfter moment: UInt64, in application: Application.ID
    ) -> UInt64? {
        state.withLock { state in
            guard let log = state.logs[application], log.position >= first else { return nil }
            if log.position < last {
                state.time += 1
                for subject in subjects { state.changedAt[Self.slot(of: subject)] = state.time }
                state.logs[application]?.position = last
            }
            return log.position <= last ? state.time : moment
        }
    }

    /// Follows a log from a position on. Changes before it are not dated, so no message that was read earlier counts
    /// as unchanged.
    ///
    /// - Returns: The time up to which a snapshot in which the log ends at the position shows every change.
    func restart(at position: LogPosition, in application: Application.ID) -> UInt64 {
        state.withLock { state in
            state.time += 1
            state.logs[application] = FollowedLog(position: position, start: state.time)
            return state.time
        }
    }

    /// The slot of an object.
    static func slot(of subject: InvalidationSubject) -> Int {
        subject.hashValue & (slotCount - 1)
    }
}

/// An object that responses show and events change.
enum InvalidationSubject: Hashable, Sendable {
    /// What the messages of a conversation show to any user, except the identity of their sender.
    case messages(Conversation.ID, Application.ID)
    /// A user's identity.
    case user(UserID, Application.ID)
}

/// The objects that a cached message depends on, and when it was read.
public struct CacheValidity: Sendable {
    /// The slots of the message's conversation, its sender and the user that reads it.
    let conversation, sender, viewer: Int
    /// A time of the clock before the read.
    let moment: UInt64

    init(
        _ message: Message, seenBy perspective: Perspective, readAfter moment: UInt64,
        in application: Application.ID
    ) {
        conversation = InvalidationClock.slot(of: .messages(message.conversation, application))
        // Without a user, the slot of the conversation is used: it is compared anyway.
        let slot = { [conversation] (user: UserID?) in
            user.map { user in InvalidationClock.slot(of: .user(user, application)) }
                ?? conversation
        }
        sender = slot(message.sender.userID)
        viewer = slot(perspective.user)
        self.moment = moment
    }
}

extension MessagingStore {
    /// A message as the system or a user sees it, to be cached with its validity.
    ///
    /// - Parameter conversation: The conversation that the message must belong to; `nil` for any. It is ignored for a
    ///   user.
    /// - Returns: The message, and what ``holds(_:)`` later compares; `nil` if other processes may change the message.
    /// - Throws: As `message(_:in:seenBy:in:)`.
    public func messageWithValidity(
        _ id: Message.ID, seenBy perspective: Perspective, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> (message: MessageSnapshot, validity: CacheValidity?) {
        // The time is taken before the read: a commit in between then counts as later, whether the read saw it or not.
        let moment = CacheMoment(
            clock: clock, application: application, time: clock.isAlone ? clock.moment : nil)
        let found = try await message(
            id, in: conversation, seenBy: perspective, in: application)
        return (found, moment.validity(of: found.message, seenBy: perspective))
    }

    /// Whether a cached message is still what the database holds. It needs no query, and is always false if other
    /// processes may change the database.
    public func holds(_ validity: CacheValidity) -> Bool { clock.isUnchanged(validity) }
}
