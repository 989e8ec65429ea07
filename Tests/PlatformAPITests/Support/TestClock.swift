import Messaging
import Synchronization

/// A clock for tests, which starts at the same time in each.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_772_356_530_042)
    private let step: Int64

    /// - Parameter step: By how many milliseconds it goes on each time it is read. With 1 no two things are
    ///   made at the same time, and lists have one order; with 0 it stands still until it is advanced.
    init(step: Int64 = 1) { self.step = step }

    func now() -> Timestamp {
        Timestamp(milliseconds: milliseconds.wrappingAdd(step, ordering: .relaxed).newValue)
    }

    func advance(by count: Int) {
        milliseconds.wrappingAdd(Int64(count), ordering: .relaxed)
    }
}

/// The faults the server has met; a test that provokes none expects none.
final class FaultLog: Sendable {
    private let count = Atomic<Int>(0)

    var reported: Int { count.load(ordering: .relaxed) }

    func note(_ fault: any Error) {
        count.wrappingAdd(1, ordering: .relaxed)
    }
}
