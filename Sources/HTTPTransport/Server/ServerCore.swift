import CLinux
import Dispatch
import Glibc
import HTTP
import Synchronization

/// What all loops of a server share.
final class ServerCore: Sendable {
    let configuration: ServerConfiguration
    let service: any Service
    let observer: (any RequestObserver)?
    /// The way in for TLS, where it is spoken.
    let tls: TLSDoor?
    private let openConnections = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let generations = Atomic<UInt32>(1)
    private let draining = Atomic<Bool>(false)

    init(
        _ configuration: ServerConfiguration, _ service: any Service,
        _ observer: (any RequestObserver)?
    ) throws(TLSFault) {
        if let wanted = configuration.tls { tls = try TLSDoor(wanted) } else { tls = nil }
        self.configuration = configuration
        self.service = service
        self.observer = observer
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

    /// Whether there is room for one more (H181).
    var admitsConnection: Bool { connectionCount < configuration.maximumConnections }

    func beginDraining() { draining.store(true, ordering: .relaxed) }

    /// Puts an accepted descriptor to work.
    ///
    /// - Parameter door: The way in, when the connection begins with TLS.
    func take(
        _ descriptor: Int32, from peer: PeerAddress, on loop: EventLoop, through door: TLSDoor?
    ) {
        let secure = door.flatMap { door in SecureSocket(descriptor, door, loop.wire) }
        guard door == nil || secure != nil else {
            // No memory for a handshake: this peer may come again.
            close(descriptor)
            return
        }
        openConnections.add(1, ordering: .relaxed)
        accepted.add(1, ordering: .relaxed)
        // Zero stands for descriptors that are no connections.
        var generation = generations.add(1, ordering: .relaxed).newValue
        if generation == 0 { generation = generations.add(1, ordering: .relaxed).newValue }
        Connection(
            descriptor: descriptor, generation: generation, peer: peer, server: self, loop: loop,
            secure: secure
        ).open()
    }

    /// A connection is gone.
    func connectionClosed() { openConnections.subtract(1, ordering: .relaxed) }
}
