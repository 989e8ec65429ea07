public import HTTP

/// What there is to say about a request once it has been answered (H206).
public struct RequestRecord: Sendable {
    /// Names the request.
    public var id: RequestID
    /// The method as received; empty when the head could not be read.
    public var method: String
    /// The route's template; empty when the head could not be read.
    public var route: String
    /// The user on whose behalf it was made, as the service says; `nil` for none.
    public var user: String?
    /// The application and the token on whose account it was made, as the service says; `nil` for none.
    public var owner: RequestOwner?
    /// The status of the answer; 0 when the connection was closed without one.
    public var status: Int
    /// Bytes of the request, head and body, as far as they were read.
    public var bytesIn: Int64
    /// Bytes of the answer, head and content.
    public var bytesOut: Int64
    /// From the end of the head to the end of the answer, in nanoseconds.
    public var duration: Int64
    /// Who asked.
    public var peer: PeerAddress
    /// Why the connection closes after this answer, or `nil` when it stays; a rule such as `H22`
    /// when the head was refused.
    public var closing: String?
    /// The trace it belongs to, as a trusted proxy says (X5); `nil` for none.
    public var trace: TraceParent?
    /// The number of the loop that served it, from 0 on; for counters that are kept for each loop.
    public var loop = 0
    /// The first bytes of a head that was refused, at most ``headPrefixLimit``, as they came; they
    /// may hold secrets and anything else. Empty for every other request.
    public var headPrefix: [UInt8] = []

    /// How many bytes of a refused head are kept (H206).
    public static let headPrefixLimit = 64
}

/// Is told of every answered request; called on the loops, so it must neither block nor be slow.
///
/// An object, because every connection asks for it after each request.
public protocol RequestObserver: AnyObject, Sendable {
    /// A request was answered, or its connection was given up.
    func finished(_ record: RequestRecord)

    /// A loop was at work for so many nanoseconds, in which it could not look after anything new.
    func finishedTurn(loop: Int, nanoseconds: Int64)

    /// Something concerns the server as a whole; each kind of event is told every ten seconds at most,
    /// on whatever thread it is noticed.
    func noticed(_ event: ServerEvent)
}

extension RequestObserver {
    /// Not everybody wants to know.
    public func finishedTurn(loop: Int, nanoseconds: Int64) {}

    /// Not everybody has a log.
    public func noticed(_ event: ServerEvent) {}
}

/// Makes request ids: time first, then 80 bits that start at random and count up (a monotonic ULID).
struct RequestIDGenerator {
    private var high: UInt64
    private var low: UInt64

    init() {
        var generator = SystemRandomNumberGenerator()
        high = generator.next() & 0xFFFF
        low = generator.next()
    }

    /// The next id; never one that this source gave before.
    ///
    /// - Parameter time: Milliseconds since 1970.
    mutating func next(at time: UInt64) -> RequestID {
        let (sum, carried) = low.addingReportingOverflow(1)
        low = sum
        if carried { high = (high + 1) & 0xFFFF }
        return RequestID(high: time << 16 | high, low: low)
    }
}
