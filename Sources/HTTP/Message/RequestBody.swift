/// The body of a request, read on demand: a slow reader applies back-pressure to the socket (H185).
///
/// The first read answers `Expect: 100-continue`; a handler that rejects the request by its head
/// must not read (H73).
public protocol RequestBody: AnyObject, Sendable {
    /// The announced length in bytes; `nil` for a chunked body.
    var length: Int64? { get }

    /// Reads until the buffer is full, the body ends, or the policy's `coalescingMilliseconds` have
    /// passed and the buffer is not empty.
    ///
    /// The buffer is emptied first; if it is still empty afterwards, the body ended completely.
    /// When a body is interrupted, the bytes before that are returned first and the next read
    /// throws.
    func read(into buffer: inout BodyBuffer) async throws(BodyError)

    /// The values of the trailer field that the policy names, once the body has ended completely.
    var trailer: [String] { get async }

    /// Reserves memory for that many more bytes until the body is deallocated.
    ///
    /// - Returns: False when the bodies of all requests together hold too much memory (H186).
    func reserveMemory(_ count: Int) -> Bool

    /// Sends an interim response (1xx) before the final one: status and fields, in the order of
    /// calls, and before a later ``read(into:)`` sends `100 Continue`.
    ///
    /// Ignored over HTTP/1.0 and once the final response has begun. May be called from any thread.
    func sendInterim(_ response: Response)

    /// Makes a pending read return at once with the bytes that were received.
    ///
    /// Later reads are not affected. May be called from any thread, also after the end.
    ///
    /// - Returns: How many bytes of the body all reads have returned, including that one.
    func completePendingRead() async -> Int64

    /// Stops receiving: bytes already received are returned by the pending or next read, and every
    /// read after it throws ``BodyError/superseded``.
    ///
    /// A body that was received completely ends normally instead. May be called from any thread,
    /// repeatedly, and after the end.
    func interrupt()
}

/// Why a body was not received completely.
public enum BodyError: Error, Equatable, Sendable {
    /// Framing or size broke a rule: answer with this refusal; the connection closes.
    case refused(Refusal)
    /// The peer closed the connection before the end (H51).
    case interrupted
    /// The body was slower than the policy's idle time or rate allows (H175).
    case stalled
    /// ``RequestBody/interrupt()`` was called.
    case superseded
}

extension RequestBody {
    /// Does nothing: without a socket there is no peer.
    public func sendInterim(_ response: Response) {}

    /// Always succeeds: without a socket no memory limit applies.
    public func reserveMemory(_ count: Int) -> Bool { true }

    /// Returns 0: without a socket no read waits.
    public func completePendingRead() async -> Int64 { 0 }

    /// Empty: without a socket there are no trailers.
    public var trailer: [String] { get async { [] } }

    /// The whole body in memory, bounded by the policy's limit.
    ///
    /// The buffer grows with the bytes received, not with the announced length, so that a peer that
    /// announces a megabyte and sends nothing costs one page (H59).
    public func collect() async throws(BodyError) -> [UInt8] {
        if length == 0 { return [] }
        var whole: [UInt8] = []
        var buffer = BodyBuffer(capacity: Int(min(length ?? 4096, 4096)))
        while true {
            try await read(into: &buffer)
            if buffer.count == 0 { return whole }
            guard reserveMemory(buffer.count) else { throw .refused(.tooManyBodies) }
            whole.append(contentsOf: buffer.bytes)
            if buffer.freeCapacity == 0 {
                buffer = BodyBuffer(capacity: min(buffer.capacity * 2, 65_536))
            }
        }
    }
}

extension Refusal {
    /// All memory for request bodies is in use; the client may retry later (H186).
    fileprivate static let tooManyBodies = Refusal(
        .serviceUnavailable, "H186", "Too many request bodies are in memory; retry later.")
}

/// How large a body a route accepts and how slowly it may arrive.
public struct BodyPolicy: Sendable {
    /// The largest body in bytes; a longer one is answered 413 (H44, H49).
    public var limit: Int64
    /// The longest pause between two bytes, in milliseconds; `nil` for the server's setting (H175).
    public var idleMilliseconds: Int64?
    /// The lowest average rate in bytes per second; `nil` for the server's setting (H175).
    public var minimumRate: Int64?
    /// How long the rate is not checked at the start, in milliseconds; `nil` for the server's
    /// setting (H175).
    public var graceMilliseconds: Int64?
    /// How long a read may wait to fill its buffer further once it has bytes, in milliseconds.
    public var coalescingMilliseconds: Int64
    /// The one trailer field that is kept; all others are discarded (H50).
    public var trailer: FieldName?
    /// Whether the limit on the duration of a request applies; false for uploads (H176).
    public var isTimed: Bool

    /// Makes a policy with the server's settings for everything that is left out.
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

    /// 1 MiB with the server's settings.
    public static let `default` = BodyPolicy(limit: 1 << 20)
}

/// How the body of a request is delimited (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Equatable {
    /// Neither length nor transfer coding: there is no body (H40 d).
    case none
    /// Exactly that many bytes, 0…2⁶³−1.
    case length(Int64)
    /// Chunks, then trailers.
    case chunked

    /// Whether bytes of a body follow the head.
    public var announcesContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}

/// Storage that is moved between the transport and the reader of a body, so that a long body is
/// received without an allocation per read.
public struct BodyBuffer: Sendable {
    /// Fixed storage; only the first ``count`` bytes are valid.
    private var storage: [UInt8]
    /// The number of bytes in the buffer.
    public private(set) var count = 0

    /// Makes an empty buffer.
    ///
    /// - Parameter capacity: At least 1.
    public init(capacity: Int) {
        storage = [UInt8](repeating: 0, count: max(capacity, 1))
    }

    /// The size of the storage in bytes.
    public var capacity: Int { storage.count }

    /// How many more bytes fit.
    public var freeCapacity: Int { storage.count - count }

    /// The bytes in the buffer.
    public var bytes: ArraySlice<UInt8> { storage[..<count] }

    /// Removes the bytes but keeps the storage.
    public mutating func removeAll() { count = 0 }

    /// Moves bytes and storage out; the buffer then has no capacity.
    ///
    /// A buffer that is filled must have a single owner, otherwise its storage is copied.
    public mutating func take() -> BodyBuffer {
        var taken = BodyBuffer(storage: [])
        swap(&taken, &self)
        return taken
    }

    private init(storage: [UInt8]) { self.storage = storage }

    /// Copies as many of these bytes as fit and returns how many.
    public mutating func append(_ bytes: Span<UInt8>) -> Int {
        let taken = min(bytes.count, freeCapacity)
        // `fill` offers at least `taken` bytes, and both pointers are used only inside this call.
        unsafe fill { free in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe free.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
            }
            return taken
        }
        return taken
    }

    /// Passes the free part to `write`, which returns how many bytes it wrote.
    public mutating func fill(_ write: (UnsafeMutableRawBufferPointer) -> Int) {
        let used = count
        // The storage does not move during the call, and only its free part is offered.
        let added = unsafe storage.withUnsafeMutableBytes { all in
            unsafe write(UnsafeMutableRawBufferPointer(rebasing: all[used...]))
        }
        count += min(max(added, 0), freeCapacity)
    }
}
