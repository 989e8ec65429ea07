public import Messaging
import SystemSupport

/// Tracks when each cached object last changed, so that a cached message can be returned without a query.
///
/// A change is announced before its commit and dated after it; in between, nothing it affects counts as
/// unchanged. So what was read after a moment and is unchanged since then is what the database holds now: no
/// reader sees the change while another still receives the cached answer, and a client that has received the
/// 2xx of a change sees it (see "Cached messages are invalidated by events" in the article of this module).
///
/// Objects share slots by their hash. A collision makes an object look changed, which costs one query.
final class InvalidationClock: Sendable {
    /// A power of two. A slot has eight bytes, and is touched only by changes.
    private static let slotCount = 1 << 14

    private struct State {
        /// The time of the last change; each change has its own.
        var time: UInt64 = 0
        var changedAt = [UInt64](repeating: 0, count: InvalidationClock.slotCount)
        /// The followed logs; on a file none.
        var logs: [Application.ID: FollowedLog] = [:]

        func isUnchanged(_ validity: CacheValidity) -> Bool {
            changedAt[validity.conversation] <= validity.moment
                && changedAt[validity.sender] <= validity.moment
                && changedAt[validity.viewer] <= validity.moment
        }
    }

    /// How far the changes of all processes in one application have been dated.
    private struct FollowedLog {
        var position: LogPosition
        /// The time from which on no change is missing.
        let start: UInt64
    }

    private let state = Locked(State())
    /// Whether all changes go through this process. Otherwise they are taken from the log, and nothing counts
    /// as unchanged to a caller that has not read the end of the log.
    let isAlone: Bool

    init(isAlone: Bool) { self.isAlone = isAlone }

    /// The current time: a read that starts now sees every change dated up to it.
    var moment: UInt64 { state.withLock { state in state.time } }

    /// Announces a change, until ``end(_:)``.
    ///
    /// Changes are made one after the other, so no other change of the object has been announced.
    func begin(_ subjects: [InvalidationSubject]) {
        state.withLock { state in
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = .max }
        }
    }

    /// Dates a change after its commit or rollback.
    func end(_ subjects: [InvalidationSubject]) {
        state.withLock { state in
            state.time += 1
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = state.time }
        }
    }

    /// Whether nothing that a cached message depends on has changed since it was read, or is being changed.
    func isUnchanged(_ validity: CacheValidity) -> Bool {
        guard isAlone else { return false }
        return state.withLock { state in state.isUnchanged(validity) }
    }

    /// Returns for each of the messages whether it was read before a moment, and nothing that it depends on has
    /// changed since it was read, or is being changed.
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

    /// The position up to which the changes of an application's log are dated; `nil` before the first.
    func position(in application: Application.ID) -> LogPosition? {
        state.withLock { state in state.logs[application]?.position }
    }

    /// Dates the changes between two positions of a log, all that were not dated before.
    ///
    /// - Parameters:
    ///   - first: A position up to which the changes are dated already.
    ///   - moment: The time before the snapshot of the database in which the log ends at `last`.
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

    /// Follows a log from a position on, without the changes before it: nothing read earlier counts as
    /// unchanged.
    ///
    /// - Returns: The time up to which a snapshot in which the log ends there shows every change.
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
    /// Everything that the messages of a conversation show to any reader, except the name of their sender.
    case messages(Conversation.ID, Application.ID)
    /// A user's identity.
    case user(UserID, Application.ID)
}

/// The objects that a cached message depends on, and when it was read.
public struct CacheValidity: Sendable {
    /// The slots of its conversation, its sender and the viewer.
    let conversation, sender, viewer: Int
    let moment: UInt64

    init(
        _ message: Message, seenBy perspective: Perspective, readAfter moment: UInt64,
        in application: Application.ID
    ) {
        conversation = InvalidationClock.slot(of: .messages(message.conversation, application))
        // Without a user, the slot of the conversation is used.
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
    /// A message as the system or a user sees it, with a value that shows later whether it is still valid: `nil`
    /// if other processes may change it.
    ///
    /// - Parameter conversation: The conversation it must belong to; `nil` for any, and for a user.
    /// - Throws: As `message(_:in:in:)` and `message(_:seenBy:in:)`.
    public func messageWithValidity(
        _ id: Message.ID, seenBy perspective: Perspective, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> (message: MessageSnapshot, validity: CacheValidity?) {
        // Taken before the read: a commit in between may or may not be included.
        let moment = CacheMoment(
            clock: clock, application: application, time: clock.isAlone ? clock.moment : nil)
        let found =
            switch perspective {
            case .system: try await message(id, in: conversation, in: application)
            case .user(let user): try await message(id, seenBy: user, in: application)
            }
        return (found, moment.validity(of: found.message, seenBy: perspective))
    }

    /// Whether a cached message is still what the database holds; never waits, and always false if other
    /// processes may change it.
    public func holds(_ validity: CacheValidity) -> Bool { clock.isUnchanged(validity) }
}
