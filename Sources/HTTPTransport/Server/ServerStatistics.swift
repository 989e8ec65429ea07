/// What a server has at hand at one moment, over all its loops.
public struct ServerStatistics: Sendable {
    /// Connections accepted since the start.
    public internal(set) var accepted = 0
    /// Connections refused since the start; reasons that never applied may be missing.
    public internal(set) var refused: [ConnectionRefusal: Int] = [:]
    /// Open connections by what they are about; states without one may be missing.
    public internal(set) var connections: [ConnectionState: Int] = [:]
    /// Handlers at work that do not wait for their request's body.
    public internal(set) var runningHandlers = 0
    /// Handlers that wait for bytes of their request's body.
    public internal(set) var waitingHandlers = 0
    /// Requests that wait for a handler, because there are `maxConcurrentRequests` (H187).
    public internal(set) var queuedRequests = 0
    /// Bytes of answers that no socket has taken yet.
    public internal(set) var queuedOutput: Int64 = 0

    /// What a connection is about.
    public enum ConnectionState: String, Sendable, CaseIterable {
        /// Between two requests, or before the first.
        case idle
        /// Inside a head.
        case head
        /// A handler works on a request.
        case working
        /// A content of unknown length goes on behind its head.
        case stream
        /// Another protocol than HTTP has the connection.
        case upgraded
        /// The rest of a body that nobody read goes by.
        case draining
        /// The last answer leaves, or has left.
        case closing
    }

    mutating func count(_ connection: Connection) {
        guard let state = connection.state else { return }
        connections[state, default: 0] += 1
        queuedOutput += connection.output.count
        guard case .working(let exchange) = connection.phase else { return }
        // Without a handler it is counted among those that wait for one.
        if exchange.place != nil { return }
        if exchange.pending == nil { runningHandlers += 1 } else { waitingHandlers += 1 }
    }
}

extension Connection {
    /// `nil` once it is gone.
    fileprivate var state: ServerStatistics.ConnectionState? {
        switch phase {
        case .head: partial == nil ? .idle : .head
        case .working: .working
        case .line(let line): line.form == .upgraded ? .upgraded : .stream
        case .draining: .draining
        case .closing, .lingering: .closing
        case .closed: nil
        }
    }
}

extension Server {
    /// Counts what is at hand, loop by loop.
    ///
    /// Nothing is kept for it: each loop looks at its connections when it is asked, some 20 ns for
    /// each, so whoever never asks pays nothing.
    public func statistics() async -> ServerStatistics {
        var statistics = ServerStatistics()
        // A loop that does not run yet would never answer, and has nothing to say.
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
