/// The state of a server at one moment, over all its loops.
public struct ServerStatistics: Sendable {
    /// The number of connections accepted since the start.
    public internal(set) var accepted = 0
    /// The number of connections refused since the start, by reason; reasons without one may be missing.
    public internal(set) var refused: [ConnectionRefusal: Int] = [:]
    /// The number of open connections by state; states without one may be missing.
    public internal(set) var connections: [ConnectionState: Int] = [:]
    /// The number of running handlers that do not wait for their request's body.
    public internal(set) var runningHandlers = 0
    /// The number of handlers that wait for their request's body.
    public internal(set) var waitingHandlers = 0
    /// The number of requests queued for a handler, because ``ServerConfiguration/maximumHandlers`` are running (H187).
    public internal(set) var queuedRequests = 0
    /// The number of response bytes that no socket has accepted yet.
    public internal(set) var queuedOutput: Int64 = 0

    /// The state of a connection.
    public enum ConnectionState: String, Sendable, CaseIterable {
        /// Between two requests, or before the first.
        case idle
        /// Inside a request head.
        case head
        /// A handler works on a request.
        case working
        /// A response of unknown length continues after its head.
        case stream
        /// The connection uses another protocol than HTTP.
        case upgraded
        /// An unread request body is discarded.
        case draining
        /// The last response is being sent, or was sent.
        case closing
    }

    mutating func count(_ connection: Connection) {
        guard let state = connection.state else { return }
        connections[state, default: 0] += 1
        queuedOutput += connection.output.count
        guard case .working(let exchange) = connection.phase else { return }
        // A request without a handler is counted in `queuedRequests`.
        if exchange.queueEntry != nil { return }
        if exchange.pendingRead == nil { runningHandlers += 1 } else { waitingHandlers += 1 }
    }
}

extension Connection {
    /// The state for statistics; `nil` when the connection is closed.
    fileprivate var state: ServerStatistics.ConnectionState? {
        switch phase {
        case .head: partialHead == nil ? .idle : .head
        case .working: .working
        case .channel(let channel): channel.framing == .upgraded ? .upgraded : .stream
        case .discarding: .draining
        case .closing, .lingering: .closing
        case .closed: nil
        }
    }
}

extension Server {
    /// Collects the statistics from each loop.
    ///
    /// No counters are kept for it: each loop examines its connections on request, about 20 ns for each, so
    /// there is no cost without a caller.
    public func statistics() async -> ServerStatistics {
        var statistics = ServerStatistics()
        // A loop that was not started would never respond, and has no connections.
        for loop in hasStarted ? loops : [] {
            let before = statistics
            statistics = await withCheckedContinuation { continuation in
                loop.perform {
                    var statistics = before
                    for connection in loop.allConnections { statistics.count(connection) }
                    continuation.resume(returning: statistics)
                }
            }
        }
        statistics.accepted = acceptedCount
        statistics.refused = core.refusedConnections
        statistics.queuedRequests = core.handlers.counts.waiting
        return statistics
    }
}
