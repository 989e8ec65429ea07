import CLinux
import Dispatch
import Glibc
import HTTP
import Synchronization
import SystemSupport

/// The state that all loops of a server share.
final class ServerCore: Sendable {
    let service: any Service
    let observer: (any RequestObserver)?
    /// The TLS state; `nil` without TLS.
    let tls: TLSAcceptor?
    private let openConnections = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let generations = Atomic<UInt32>(1)
    private let draining = Atomic<Bool>(false)
    /// Limits the handlers that run at the same time (H187).
    let handlers: HandlerQueue
    /// Limits the memory of request bodies (H186).
    let bodies: BodyBudget
    private let clients = AddressCounts()
    private let eventThrottle = ServerEventThrottle()
    private let refusals = Locked<[ConnectionRefusal: Int]>([:])

    init(
        _ configuration: ServerConfiguration, _ service: any Service,
        _ observer: (any RequestObserver)?
    ) throws(TLSConfigurationError) {
        if let wanted = configuration.tls { tls = try TLSAcceptor(wanted) } else { tls = nil }
        self.service = service
        self.observer = observer
        handlers = HandlerQueue(
            limit: configuration.maximumHandlers, capacity: configuration.maximumQueue)
        bodies = BodyBudget(limit: configuration.maximumBufferedBodies)
    }

    /// Applies new values of the shared limits (H196).
    func apply(_ configuration: ServerConfiguration) {
        handlers.set(limit: configuration.maximumHandlers, capacity: configuration.maximumQueue)
        bodies.set(limit: configuration.maximumBufferedBodies)
    }

    /// The response to `OPTIONS *`, which is about the server as a whole (H18).
    let answerToAsterisk: Response = {
        var response = Response(.noContent)
        response.fields.add("Allow", Method.allCases.map(\.rawValue).joined(separator: ", "))
        return response
    }()

    /// Whether the server is stopping.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// The number of open connections.
    var connectionCount: Int { openConnections.load(ordering: .relaxed) }

    /// The number of connections accepted so far.
    var acceptedCount: Int { accepted.load(ordering: .relaxed) }

    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// The number of connections above the limit that get a 503: half of the reserved descriptors.
    private static let excess = 32

    /// Whether one more connection may be accepted, perhaps only to respond with 503 (H181).
    func allowsConnection(_ configuration: ServerConfiguration) -> Bool {
        connectionCount
            < configuration.maximumConnections
            + (configuration.repliesToOverload ? Self.excess : 0)
    }

    /// Starts a connection, unless its client has too many already (H182).
    ///
    /// - Parameters:
    ///   - peer: The peer, or the client that the PROXY protocol names (H204).
    ///   - acceptor: The TLS state, when the connection uses TLS.
    func take(
        _ descriptor: Int32, from peer: PeerAddress, on loop: EventLoop,
        through acceptor: TLSAcceptor?
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
        // A 503 over TLS would need a handshake, which is too expensive here; a connection for whose session
        // there is no memory is closed too. The client can retry.
        let secure =
            isExcess
            ? nil
            : acceptor.flatMap { acceptor in SecureSocket(descriptor, acceptor, loop.tlsBuffers) }
        guard acceptor == nil || secure != nil else {
            if let client { clients.remove(client) }
            Glibc.close(descriptor)
            if !isExcess { refused(.memory) }
            return
        }
        connectionOpened()
        accepted.add(1, ordering: .relaxed)
        // Generation 0 marks descriptors that are not connections.
        var generation = generations.add(1, ordering: .relaxed).newValue
        if generation == 0 { generation = generations.add(1, ordering: .relaxed).newValue }
        let connection = Connection(
            descriptor: descriptor, generation: generation, peer: peer, client: client,
            isTrusted: isTrusted, server: self, loop: loop, secure: secure)
        connection.open()
        if isExcess { connection.rejectOverLimit() }
    }

    /// Counts a connection, which may still wait for its PROXY header.
    func connectionOpened() { openConnections.add(1, ordering: .relaxed) }

    /// Counts one connection less.
    ///
    /// - Parameter client: The client for which it was counted, if any.
    func connectionClosed(_ client: AddressCounts.Client?) {
        if let client { clients.remove(client) }
        openConnections.subtract(1, ordering: .relaxed)
    }

    /// Counts a connection that was refused.
    func refused(_ reason: ConnectionRefusal) {
        refusals.withLock { refusals in refusals[reason, default: 0] += 1 }
    }

    /// The number of refused connections so far.
    var refusedConnections: [ConnectionRefusal: Int] { refusals.withLock { refusals in refusals } }

    /// The number of clients with counted connections.
    var clientCount: Int { clients.clientCount }

    /// Reports an event to the observer, unless it was reported recently (H183, H209).
    func notice(_ event: ServerEvent) {
        guard let observer, eventThrottle.allows(event, now: MonotonicClock.milliseconds) else {
            return
        }
        observer.noticed(event)
    }

    /// The service's response to a refusal, with `Retry-After` for 503.
    func refusal(_ refusal: Refusal) -> Response {
        var response = service.refusal(refusal)
        if refusal.status == .serviceUnavailable, response.fields["Retry-After"] == nil {
            response.fields.add("Retry-After", "5")
        }
        return response
    }
}
