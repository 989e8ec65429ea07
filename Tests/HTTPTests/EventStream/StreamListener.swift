import Locking

@testable import HTTP

/// An application that counts what it is told.
final class StreamListener: EventStreamHandler {
    private let counts = Locked((opened: 0, drained: 0, closed: 0))

    private let placeSaid = Locked<Int64?>(nil)

    /// Where it says that its client is.
    var place: Int64? {
        get { placeSaid.withLock { $0 } }
        set { placeSaid.withLock { place in place = newValue } }
    }

    var openedCount: Int { counts.withLock { counts in counts.opened } }
    var drainedCount: Int { counts.withLock { counts in counts.drained } }
    var closedCount: Int { counts.withLock { counts in counts.closed } }

    func opened(_ stream: EventStream) { counts.withLock { counts in counts.opened += 1 } }
    func drained(_ stream: EventStream) { counts.withLock { counts in counts.drained += 1 } }
    func closed(_ stream: EventStream) { counts.withLock { counts in counts.closed += 1 } }
}
