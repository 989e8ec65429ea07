public import HTTP
import SystemSupport

/// An event of the server as a whole, for its operator.
public enum ServerEvent: Sendable, Equatable, CustomStringConvertible {
    /// The system has no descriptor or memory for another connection; accepting resumes by itself (H183).
    case cannotAccept(SystemError)
    /// ``ServerConfiguration/maximumConnections`` is reached (H181).
    case full
    /// A client has reached ``ServerConfiguration/maximumConnectionsPerAddress`` (H182).
    case fullForClient(PeerAddress)
    /// ``ServerConfiguration/maximumHandlers`` is reached, and ``ServerConfiguration/maximumQueue`` or the queue timeout
    /// too (H187).
    case busy

    /// A text for the log, on one line.
    public var description: String {
        switch self {
        case .cannotAccept(let error): "connections cannot be accepted: \(error.reason)"
        case .full: "the limit of connections is reached"
        case .fullForClient(let peer): "\(peer) has reached the limit of connections of one client"
        case .busy: "requests are refused, because the limit of concurrent requests is reached"
        }
    }

    /// The number of the kind, from 0.
    var kind: Int {
        switch self {
        case .cannotAccept: 0
        case .full: 1
        case .fullForClient: 2
        case .busy: 3
        }
    }

    fileprivate static let kindCount = 4
}

/// Limits each kind of event to one notice in ten seconds (H183, H209).
final class ServerEventThrottle: Sendable {
    /// The time between two notices of a kind, in milliseconds.
    private static let interval: Int64 = 10_000
    private let last = Locked([Int64?](repeating: nil, count: ServerEvent.kindCount))

    /// Whether an event must be reported.
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
