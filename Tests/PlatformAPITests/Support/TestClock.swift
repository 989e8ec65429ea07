import Messaging
import Synchronization

/// A clock that goes on by one millisecond each time somebody looks.
///
/// So no two things are made at the same time, and lists have one order.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_772_356_530_042)

    func now() -> Timestamp {
        Timestamp(milliseconds: milliseconds.wrappingAdd(1, ordering: .relaxed).newValue)
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
