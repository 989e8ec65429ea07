public import HTTP
import SystemSupport

/// Something about the server as a whole that its operator should know.
public enum ServerEvent: Sendable, Equatable, CustomStringConvertible {
    /// The system gives no descriptor or memory for another connection; accepting goes on by itself
    /// (H183).
    case cannotAccept(SystemError)
    /// There are `maxConnections` (H181).
    case full
    /// A client has `maxConnectionsPerAddress` (H182).
    case fullForClient(PeerAddress)
    /// There are `maxConcurrentRequests` and `maxQueue` wait, or waited for too long (H187).
    case busy

    /// One line.
    public var description: String {
        switch self {
        case .cannotAccept(let error): "connections cannot be accepted: \(error)"
        case .full: "there are as many connections as allowed"
        case .fullForClient(let peer): "\(peer) has as many connections as one client may have"
        case .busy: "requests are refused, because too many are being worked on"
        }
    }

    /// One number for each kind, from 0 on.
    var kind: Int {
        switch self {
        case .cannotAccept: 0
        case .full: 1
        case .fullForClient: 2
        case .busy: 3
        }
    }

    static let kindCount = 4
}

/// Lets each kind of event be told once in a while, however often it happens (H183, H209).
final class ServerEventThrottle: Sendable {
    /// Milliseconds between two notices of a kind.
    private static let interval: Int64 = 10_000
    private let last = Locked([Int64?](repeating: nil, count: ServerEvent.kindCount))

    /// Whether an event is to be told.
    ///
    /// - Parameter now: A monotonic clock, in milliseconds.
    func allows(_ event: ServerEvent, now: Int64) -> Bool {
        last.withLock { last in
            if let time = last[event.kind], now - time < Self.interval { return false }
            last[event.kind] = now
            return true
        }
    }
}
