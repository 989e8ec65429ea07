/// The body of a request, pulled by whoever handles it: a slow consumer stops the socket (H185).
///
/// The first read answers `Expect: 100-continue`; a handler that refuses the request from its head
/// alone simply never reads (H73).
public protocol RequestBody: AnyObject, Sendable {
    /// The announced length in bytes, or `nil` for a chunked body.
    var length: Int64? { get }

    /// Receives until the buffer is full, the body ends, or the policy's `patience` has passed with
    /// something in the buffer.
    ///
    /// The buffer is emptied first; an empty buffer afterwards means that the body ended cleanly.
    /// When a body breaks off, the bytes before the break are handed over first and the next read
    /// throws.
    func read(into buffer: inout BodyBuffer) async throws(BodyError)

    /// The values of the trailer field that the policy names, of a body that has ended cleanly.
    var trailer: [String] { get async }

    /// Asks to keep so many bytes more of this body in memory until nobody has the body any more.
    ///
    /// - Returns: False when all requests together keep too much already (H186).
    func reserveMemory(_ count: Int) -> Bool

    /// Sends an interim response (1xx) ahead of the answer: status and fields, in the order of calls
    /// and before a later ``read(into:)`` asks the peer to go on.
    ///
    /// Nobody hears it over HTTP/1.0, nor once the answer has begun. May be called from any thread.
    func sendInterim(_ response: Response)

    /// Lets a pending read return at once with what the server has received, without waiting for more.
    ///
    /// Nothing changes for later reads. May be called from any thread, and after the end.
    ///
    /// - Returns: How many bytes of the body have been handed over by all reads until then, that one
    ///   included.
    func completePendingRead() async -> Int64

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
    public func sendInterim(_ response: Response) {}

    /// A body that comes from no socket is nobody's burden.
    public func reserveMemory(_ count: Int) -> Bool { true }

    /// A body that comes from no socket keeps no read waiting, and is never asked how much of it has come.
    public func completePendingRead() async -> Int64 { 0 }

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
            guard reserveMemory(buffer.count) else { throw .refused(.tooManyBodies) }
            whole.append(contentsOf: buffer.bytes)
            if buffer.room == 0 { buffer = BodyBuffer(capacity: min(buffer.capacity * 2, 65_536)) }
        }
    }
}

extension Refusal {
    /// Bodies in memory take all they may; try again later (H186).
    public static let tooManyBodies = Refusal(
        .serviceUnavailable, "H186", "The server holds as many request bodies as it can.")
}

/// How much body a route takes, and how slowly it may come.
public struct BodyPolicy: Sendable {
    /// The largest body in bytes; a longer one is refused with 413 (H44, H49).
    public var limit: Int64
    /// The longest pause between two bytes, in milliseconds; `nil` takes the server's (H175).
    public var idleMilliseconds: Int64?
    /// The lowest average rate in bytes per second; `nil` takes the server's (H175).
    public var minimumRate: Int64?
    /// How long the rate is not judged, in milliseconds; `nil` takes the server's (H175).
    public var graceMilliseconds: Int64?
    /// How long a read may hold bytes back while it fills the buffer, in milliseconds.
    public var coalescingMilliseconds: Int64
    /// The one trailer field the handler looks at; all others are thrown away (H50).
    public var trailer: FieldName?
    /// False lifts the limit on the duration of the whole request (uploads; H176).
    public var isTimed: Bool

    /// Makes a policy; what is left out is the server's default.
    public init(
        limit: Int64, idleMilliseconds: Int64? = nil, minimumRate: Int64? = nil,
        graceMilliseconds: Int64? = nil, coalescingMilliseconds: Int64 = 1000,
        trailer: FieldName? = nil,
        isTimed: Bool = true
    ) {
        self.limit = limit
        self.idleMilliseconds = idleMilliseconds
        self.minimumRate = minimumRate
        self.graceMilliseconds = graceMilliseconds
        self.coalescingMilliseconds = coalescingMilliseconds
        self.trailer = trailer
        self.isTimed = isTimed
    }

    /// 1 MiB at the server's pace.
    public static let `default` = BodyPolicy(limit: 1 << 20)
}

/// How the body of a request is delimited on the wire (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Equatable {
    /// Neither length nor transfer coding: there is no body (H40 d).
    case none
    /// Exactly that many bytes, 0…2⁶³−1.
    case length(Int64)
    /// Chunks, then trailers.
    case chunked

    /// True when bytes of a body follow the head.
    public var announcesContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}

/// Storage that travels between the transport and the reader of a body, so that a long body is
/// received without an allocation per read.
public struct BodyBuffer: Sendable {
    /// Fixed storage; only the first ``count`` bytes mean anything.
    public private(set) var storage: [UInt8]
    /// How many bytes are in the buffer.
    public private(set) var count = 0

    /// Makes an empty buffer.
    ///
    /// - Parameter capacity: At least 1.
    public init(capacity: Int) {
        storage = [UInt8](repeating: 0, count: max(capacity, 1))
    }

    /// How many bytes fit.
    public var capacity: Int { storage.count }

    /// How many more fit.
    public var room: Int { storage.count - count }

    /// The bytes in the buffer.
    public var bytes: ArraySlice<UInt8> { storage[..<count] }

    /// Forgets the bytes, keeps the storage.
    public mutating func removeAll() { count = 0 }

    /// Hands everything over and keeps nothing, no room either.
    ///
    /// Who fills a buffer must be the only one who has it, or the storage is copied.
    public mutating func take() -> BodyBuffer {
        var taken = BodyBuffer(storage: [])
        swap(&taken, &self)
        return taken
    }

    private init(storage: [UInt8]) { self.storage = storage }

    /// Copies as many of these bytes as fit, and says how many that were.
    public mutating func append(_ bytes: Span<UInt8>) -> Int {
        let taken = min(bytes.count, room)
        unsafe fill { free in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe free.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
            }
            return taken
        }
        return taken
    }

    /// Lets somebody write into the free part; `write` returns how many bytes it put there.
    public mutating func fill(_ write: (UnsafeMutableRawBufferPointer) -> Int) {
        let used = count
        let added = unsafe storage.withUnsafeMutableBytes { all in
            unsafe write(UnsafeMutableRawBufferPointer(rebasing: all[used...]))
        }
        count += min(max(added, 0), room)
    }
}
