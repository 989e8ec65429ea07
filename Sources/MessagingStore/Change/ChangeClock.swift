import Locking
import Messaging

/// Knows since when what answers are made of is as it is.
///
/// A change is announced before its commit and dated after it; in between nothing it touches counts as
/// unchanged. So whatever was read after a moment, and is unchanged since that moment, is what the
/// database holds now: no reader sees the change while another is still handed the old answer, and who
/// has the 2xx of a change sees it (`MessagingStore`, "Answers that are kept").
///
/// Things share slots by their hash. Two in one slot make each other look changed, which costs a
/// read and nothing else.
final class ChangeClock: Sendable {
    /// A power of two; at eight bytes each they are touched only as changes are.
    private static let slotCount = 1 << 14

    private struct State {
        /// The time of the last change; each has its own.
        var time: UInt64 = 0
        var changedAt = [UInt64](repeating: 0, count: ChangeClock.slotCount)
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
    func begin(_ subjects: [ChangeSubject]) {
        state.withLock { state in
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = .max }
        }
    }

    /// Says that it was, or that nothing came of it.
    func end(_ subjects: [ChangeSubject]) {
        state.withLock { state in
            state.time += 1
            for subject in subjects { state.changedAt[Self.slot(of: subject)] = state.time }
        }
    }

    /// Whether nothing a message was made of was changed since it was read, or is being changed.
    func isUnchanged(_ basis: MessageBasis) -> Bool {
        guard isAlone else { return false }
        return state.withLock { state in
            state.changedAt[basis.conversation] <= basis.moment
                && state.changedAt[basis.sender] <= basis.moment
                && state.changedAt[basis.viewer] <= basis.moment
        }
    }

    /// Where the changes of something are dated.
    static func slot(of subject: ChangeSubject) -> Int {
        subject.hashValue & (slotCount - 1)
    }
}
