import CLinux
import Dispatch
import Glibc
import HTTP
import Synchronization
import SystemSupport

/// What all loops of a server share.
final class ServerCore: Sendable {
    let service: any Service
    let observer: (any RequestObserver)?
    /// The way in for TLS, where it is spoken.
    let tls: TLSAcceptor?
    private let openConnections = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let generations = Atomic<UInt32>(1)
    private let draining = Atomic<Bool>(false)
    /// Handlers at work and those who wait for one (H187).
    let handlers: HandlerQueue
    /// What bodies in memory may take together (H186).
    let bodies: BodyBudget
    private let clients = AddressCounts()
    private let notices = ServerEventThrottle()
    private let refusals = Locked<[ConnectionRefusal: Int]>([:])

    init(
        _ configuration: ServerConfiguration, _ service: any Service,
        _ observer: (any RequestObserver)?
    ) throws(TLSConfigurationError) {
        if let wanted = configuration.tls { tls = try TLSAcceptor(wanted) } else { tls = nil }
        self.service = service
        self.observer = observer
        handlers = HandlerQueue(
            limit: configuration.maximumHandlers, room: configuration.maximumQueue)
        bodies = BodyBudget(limit: configuration.maximumBufferedBodies)
    }

    /// Takes over the limits that all loops share (H196).
    func apply(_ configuration: ServerConfiguration) {
        handlers.set(limit: configuration.maximumHandlers, room: configuration.maximumQueue)
        bodies.set(limit: configuration.maximumBufferedBodies)
    }

    /// `OPTIONS *` asks about the server as a whole (H18).
    let answerToAsterisk: Response = {
        var response = Response(.noContent)
        response.fields.add("Allow", Method.allCases.map(\.rawValue).joined(separator: ", "))
        return response
    }()

    /// Whether the server is stopping.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// How many connections are open.
    var connectionCount: Int { openConnections.load(ordering: .relaxed) }

    /// How many were accepted so far.
    var acceptedCount: Int { accepted.load(ordering: .relaxed) }

    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// How many connections above the limit may be told that they are: half of the descriptors that
    /// are kept in reserve.
    private static let excess = 32

    /// Whether one more may be accepted, if only to tell it that there is no room (H181).
    func allowsConnection(_ configuration: ServerConfiguration) -> Bool {
        connectionCount
            < configuration.maximumConnections
            + (configuration.repliesToOverload ? Self.excess : 0)
    }

    /// Puts an accepted descriptor to work, unless its client has enough already (H182).
    ///
    /// - Parameters:
    ///   - peer: The other end, or who stands behind it by the PROXY protocol (H204).
    ///   - door: The way in, when the connection begins with TLS.
    func take(
        _ descriptor: Int32, from peer: PeerAddress, on loop: EventLoop, through door: TLSAcceptor?
    ) {
        let configuration = loop.configuration
        let isTrusted = configuration.trust.includes(peer)
        let client = isTrusted ? nil : AddressCounts.Client(peer)
        if let client, !clients.add(client, limit: configuration.maximumConnectionsPerAddress) {
            notice(.fullForClient(peer))
            Glibc.close(descriptor)
            return refused(.client)
        }
        let isExcess = connectionCount >= configuration.maximumConnections
        if isExcess {
            notice(.full)
            refused(.full)
        }
        // To be told so behind TLS would need a handshake, for which there is no room; nor is there
        // without memory for one. This peer may come again.
        let secure =
            isExcess ? nil : door.flatMap { door in SecureSocket(descriptor, door, loop.wire) }
        guard door == nil || secure != nil else {
            if let client { clients.remove(client) }
            Glibc.close(descriptor)
            if !isExcess { refused(.memory) }
            return
        }
        connectionOpened()
        accepted.add(1, ordering: .relaxed)
        // Zero stands for descriptors that are no connections.
        var generation = generations.add(1, ordering: .relaxed).newValue
        if generation == 0 { generation = generations.add(1, ordering: .relaxed).newValue }
        let connection = Connection(
            descriptor: descriptor, generation: generation, peer: peer, client: client,
            isTrusted: isTrusted, server: self, loop: loop, secure: secure)
        connection.open()
        if isExcess { connection.rejectOverLimit() }
    }

    /// A connection is there, though perhaps not at work yet.
    func connectionOpened() { openConnections.add(1, ordering: .relaxed) }

    /// A connection is gone.
    ///
    /// - Parameter client: For whom it was counted, if for anybody.
    func connectionClosed(_ client: AddressCounts.Client?) {
        if let client { clients.remove(client) }
        openConnections.subtract(1, ordering: .relaxed)
    }

    /// Counts a connection that was refused.
    func refused(_ reason: ConnectionRefusal) {
        refusals.withLock { refusals in refusals[reason, default: 0] += 1 }
    }

    /// How many were refused so far.
    var refusedConnections: [ConnectionRefusal: Int] { refusals.withLock { refusals in refusals } }

    /// How many clients have connections that count.
    var clientCount: Int { clients.clientCount }

    /// Tells the observer of something, but not too often (H183, H209).
    func notice(_ event: ServerEvent) {
        guard let observer, notices.allows(event, now: MonotonicClock.milliseconds) else { return }
        observer.noticed(event)
    }

    /// What the service says; to whom there is no room or time for also when to try again.
    func refusal(_ refusal: Refusal) -> Response {
        var response = service.refusal(refusal)
        if refusal.status == .serviceUnavailable, response.fields["Retry-After"] == nil {
            response.fields.add("Retry-After", "5")
        }
        return response
    }
}
