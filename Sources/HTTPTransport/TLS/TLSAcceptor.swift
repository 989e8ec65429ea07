import Glibc
import Synchronization
import SystemSupport

/// What the TLS listeners of a server share: the certificates of the moment and the handshakes under
/// way.
final class TLSAcceptor: Sendable {
    private let context: Locked<TLSContext>
    private let tickets: TicketKeys
    private let maximumHandshakes: Int
    private let pending = Atomic<Int>(0)
    private let established = Atomic<Int>(0)
    private let resumed = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    /// Reads and checks everything.
    init(_ configuration: TLSConfiguration) throws(TLSConfigurationError) {
        tickets = TicketKeys(rotation: configuration.ticketRotation)
        maximumHandshakes = configuration.maximumHandshakes
        context = Locked(try TLSContext(configuration, tickets: tickets, at: Self.now))
    }

    /// Reads and checks everything anew; what is wrong leaves everything as it was (H165).
    func reload(_ configuration: TLSConfiguration) throws(TLSConfigurationError) {
        let fresh = try TLSContext(configuration, tickets: tickets, at: Self.now)
        context.withLock { context in context = fresh }
    }

    private static var now: Int64 { Int64(time(nil)) }

    /// What a handshake that begins now works with.
    var current: TLSContext { context.withLock { context in context } }

    /// Whether one more handshake may begin (H168).
    var allowsHandshake: Bool { pending.load(ordering: .relaxed) < maximumHandshakes }

    func handshakeBegins() { pending.add(1, ordering: .relaxed) }

    /// A handshake is over.
    func handshakeEnds(_ isEstablished: Bool, isScheduledToRead: Bool) {
        pending.subtract(1, ordering: .relaxed)
        if isEstablished {
            established.add(1, ordering: .relaxed)
        } else {
            failed.add(1, ordering: .relaxed)
        }
        if isScheduledToRead { resumed.add(1, ordering: .relaxed) }
    }

    /// The counters.
    var statistics: TLSStatistics {
        TLSStatistics(
            pending: pending.load(ordering: .relaxed),
            established: established.load(ordering: .relaxed),
            resumed: resumed.load(ordering: .relaxed), failed: failed.load(ordering: .relaxed))
    }
}

/// What the TLS listeners of a server have done.
public struct TLSStatistics: Sendable, Equatable {
    /// Handshakes in progress.
    public var pending = 0
    /// Handshakes that succeeded.
    public var established = 0
    /// Those of them that resumed a session.
    public var resumed = 0
    /// Handshakes that did not.
    public var failed = 0

    /// Nothing yet.
    public init() {}

    init(pending: Int, established: Int, resumed: Int, failed: Int) {
        self.pending = pending
        self.established = established
        self.resumed = resumed
        self.failed = failed
    }
}
