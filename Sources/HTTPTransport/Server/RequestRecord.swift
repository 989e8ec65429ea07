public import HTTP

/// A finished request, for logs and metrics (H206).
public struct RequestRecord: Sendable {
    /// The id of the request.
    public var id: RequestID
    /// The method as received; empty when the head was invalid.
    public var method: String
    /// The template of the route; empty when the head was invalid.
    public var route: String
    /// The user of the request, as the service reports it; `nil` for none.
    public var user: String?
    /// The application and the token of the request, as the service reports them; `nil` for none.
    public var owner: RequestOwner?
    /// The status code of the response; 0 when the connection was closed without one.
    public var status: Int
    /// The size of the request, head and body, as far as it was read.
    public var bytesIn: Int64
    /// The size of the response, head and content.
    public var bytesOut: Int64
    /// The time from the end of the request head to the end of the response, in nanoseconds.
    public var duration: Int64
    /// The client's address.
    public var peer: PeerAddress
    /// The reason why the connection closes after this response; `nil` when it stays open. For an invalid
    /// head it is the rule, such as `H22`.
    public var closing: String?
    /// The trace context of a trusted proxy (X5); `nil` for none.
    public var trace: TraceParent?
    /// The number of the event loop, from 0, for counters per loop.
    public var loop = 0
    /// The first bytes of an invalid head as received, at most ``headPrefixLimit``; they may contain secrets
    /// and any bytes. Empty for other requests.
    public var headPrefix: [UInt8] = []

    /// The maximum size of ``headPrefix`` (H206).
    public static let headPrefixLimit = 64
}

/// An observer of a server; it is called on the event loops, so it must not block and must be fast.
///
/// A class, because each connection uses it after each request.
public protocol RequestObserver: AnyObject, Sendable {
    /// Called when a request has ended, with a response or with its connection.
    func finished(_ record: RequestRecord)

    /// Called after each turn of a loop with its duration, during which no new event was handled.
    func finishedTurn(loop: Int, nanoseconds: Int64)

    /// Called on any thread for events of the server as a whole, at most every ten seconds for each kind.
    func noticed(_ event: ServerEvent)
}

extension RequestObserver {
    /// Does nothing.
    public func finishedTurn(loop: Int, nanoseconds: Int64) {}

    /// Ignores the event.
    public func noticed(_ event: ServerEvent) {}
}

/// A generator of request ids: the time, then 80 bits that start at random and count up (a monotonic ULID).
struct RequestIDGenerator {
    private var high: UInt64
    private var low: UInt64

    init() {
        var generator = SystemRandomNumberGenerator()
        high = generator.next() & 0xFFFF
        low = generator.next()
    }

    /// The next id; it differs from all earlier ones of this generator.
    ///
    /// - Parameter time: Milliseconds since 1970.
    mutating func next(at time: UInt64) -> RequestID {
        let (sum, carried) = low.addingReportingOverflow(1)
        low = sum
        if carried { high = (high + 1) & 0xFFFF }
        return RequestID(high: time << 16 | high, low: low)
    }
}
