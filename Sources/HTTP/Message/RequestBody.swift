/// The body of a request, pulled by whoever handles it: a slow consumer stops the socket (H185).
///
/// The first read answers `Expect: 100-continue`; a handler that refuses the request from its head
/// alone simply never reads (H73).
public protocol RequestBody: AnyObject, Sendable {
    /// The announced length in octets, or `nil` for a chunked body.
    var length: Int64? { get }

    /// Receives until the buffer is full, the body ends, or the policy's `patience` has passed with
    /// something in the buffer.
    ///
    /// The buffer is emptied first; an empty buffer afterwards means that the body ended cleanly.
    /// When a body breaks off, the octets before the break are handed over first and the next read
    /// throws.
    func read(into buffer: inout BodyBuffer) async throws(BodyError)

    /// The values of the trailer field that the policy names, of a body that has ended cleanly.
    var trailer: [String] { get async }

    /// Asks to keep so many octets more of this body in memory until nobody has the body any more.
    ///
    /// - Returns: False when all requests together keep too much already (H186).
    func hold(_ count: Int) -> Bool

    /// Sends an interim response (1xx) ahead of the answer: status and fields, in the order of calls
    /// and before a later ``read(into:)`` asks the peer to go on.
    ///
    /// Nobody hears it over HTTP/1.0, nor once the answer has begun. May be called from any thread.
    func inform(_ response: Response)

    /// Lets a pending read return at once with what the server has received, without waiting for more.
    ///
    /// Nothing changes for later reads. May be called from any thread, and after the end.
    ///
    /// - Returns: How many bytes of the body have been handed over by all reads until then, that one
    ///   included.
    func handOver() async -> Int64

    /// Stops receiving: what the server has received is handed over by the pending read or the next one,
    /// and every read after it throws ``BodyError/superseded``.
    ///
    /// A body that was received whole ends cleanly instead. May be called from any thread, more than
    /// once, and after the end.
    func interrupt()
}

/// Why a body did not arrive whole.
public enum BodyError: Error, Equatable, Sendable {
    /// Framing or size broke a rule: answer with this, the connection closes.
    case refused(Refusal)
    /// The peer went away before the end (H51).
    case interrupted
    /// Too slow, by the policy's idle time or rate (H175).
    case stalled
    /// ``RequestBody/interrupt()`` was called.
    case superseded
}

extension RequestBody {
    /// Behind a body that comes from no socket nobody listens.
    public func inform(_ response: Response) {}

    /// A body that comes from no socket is nobody's burden.
    public func hold(_ count: Int) -> Bool { true }

    /// A body that comes from no socket keeps no read waiting, and is never asked how much of it has come.
    public func handOver() async -> Int64 { 0 }

    /// A body that comes from no socket has no trailers.
    public var trailer: [String] { get async { [] } }

    /// The whole body in memory; the policy's limit bounds it.
    ///
    /// The buffer grows with what comes, not with what is announced: a peer that promises a
    /// megabyte and sends nothing costs a page (H59).
    public func collect() async throws(BodyError) -> [UInt8] {
        if length == 0 { return [] }
        var whole: [UInt8] = []
        var buffer = BodyBuffer(capacity: Int(min(length ?? 4096, 4096)))
        while true {
            try await read(into: &buffer)
            if buffer.count == 0 { return whole }
            guard hold(buffer.count) else { throw .refused(.tooManyBodies) }
            whole.append(contentsOf: buffer.octets)
            if buffer.room == 0 { buffer = BodyBuffer(capacity: min(buffer.capacity * 2, 65_536)) }
        }
    }
}

extension Refusal {
    /// Bodies in memory take all they may; try again later (H186).
    public static let tooManyBodies = Refusal(
        .serviceUnavailable, "H186", "The server holds as many request bodies as it can.")
}
