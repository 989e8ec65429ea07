import Glibc
import Synchronization
import SystemSupport

/// The TLS state that the listeners of a server share: the current certificates and the number of handshakes.
final class TLSAcceptor: Sendable {
    private let context: Locked<TLSContext>
    private let tickets: TicketKeys
    private let maximumHandshakes: Int
    private let pending = Atomic<Int>(0)
    private let established = Atomic<Int>(0)
    private let resumed = Atomic<Int>(0)
    private let failed = Atomic<Int>(0)

    /// Reads and validates all files.
    init(_ configuration: TLSConfiguration) throws(TLSConfigurationError) {
        tickets = TicketKeys(rotation: configuration.ticketRotation)
        maximumHandshakes = configuration.maximumHandshakes
        context = Locked(try TLSContext(configuration, tickets: tickets, at: Self.now))
    }

    /// Reads and validates all files again; on an error nothing changes (H165).
    func reload(_ configuration: TLSConfiguration) throws(TLSConfigurationError) {
        let fresh = try TLSContext(configuration, tickets: tickets, at: Self.now)
        context.withLock { context in context = fresh }
    }

    /// Seconds since 1970.
    static var now: Int64 { Int64(time(nil)) }

    /// The context for new handshakes.
    var current: TLSContext { context.withLock { context in context } }

    /// Whether one more handshake may begin (H168).
    var allowsHandshake: Bool { pending.load(ordering: .relaxed) < maximumHandshakes }

    func handshakeBegins() { pending.add(1, ordering: .relaxed) }

    /// Counts the end of a handshake.
    func handshakeEnds(_ isEstablished: Bool, isResumed: Bool) {
        pending.subtract(1, ordering: .relaxed)
        if isEstablished {
            established.add(1, ordering: .relaxed)
        } else {
            failed.add(1, ordering: .relaxed)
        }
        if isResumed { resumed.add(1, ordering: .relaxed) }
    }

    /// The counters of handshakes.
    var statistics: TLSStatistics {
        TLSStatistics(
            pending: pending.load(ordering: .relaxed),
            established: established.load(ordering: .relaxed),
            resumed: resumed.load(ordering: .relaxed), failed: failed.load(ordering: .relaxed))
    }
}

/// The counters of TLS handshakes.
public struct TLSStatistics: Sendable, Equatable {
    /// Handshakes in progress.
    public var pending = 0
    /// Handshakes that succeeded.
    public var established = 0
    /// Those of them that resumed a session.
    public var resumed = 0
    /// Handshakes that failed.
    public var failed = 0

    /// All counters at zero.
    public init() {}

    init(pending: Int, established: Int, resumed: Int, failed: Int) {
        self.pending = pending
        self.established = established
        self.resumed = resumed
        self.failed = failed
    }
}
