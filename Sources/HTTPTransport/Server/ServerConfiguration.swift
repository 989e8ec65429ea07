public import HTTP

/// The limits and timeouts of a server; the defaults are those of the HTTP rules (http §25).
///
/// All times are in milliseconds, all sizes in bytes. There is no value for "unlimited".
public struct ServerConfiguration: Sendable {
    /// The addresses without TLS.
    public var addresses: [ListenAddress] = [.ipv4(0x7F00_0001, port: 8080)]
    /// The TLS configuration; `nil` without TLS.
    public var tls: TLSConfiguration?
    /// The number of event loops; one per core.
    public var loops = 1
    /// The limits of a request head (H21, H55, H37).
    public var head = HeadLimits()
    /// The time from the first byte of a request head to its end (H174).
    public var headerTimeout: Int64 = 20_000
    /// The idle time between two requests (H84).
    public var keepAliveTimeout: Int64 = 75_000
    /// The time without a byte of the request's body (H175).
    public var bodyIdleTimeout: Int64 = 15_000
    /// Bytes per second of a request's body, on average after ``bodyGrace`` (H175).
    public var minimumBodyRate: Int64 = 240
    /// The time before ``minimumBodyRate`` applies (H175).
    public var bodyGrace: Int64 = 5_000
    /// The whole time of a timed request (H176).
    public var requestTimeout: Int64 = 60_000
    /// The time of the handler of a timed request, without waiting for the body (H177).
    public var handlerTimeout: Int64 = 30_000
    /// The time without progress of a response (H178).
    public var writeIdleTimeout: Int64 = 15_000
    /// Bytes per second that the peer reads, on average after ``writeGrace`` (H178).
    public var minimumWriteRate: Int64 = 240
    /// The time before ``minimumWriteRate`` applies (H178).
    public var writeGrace: Int64 = 5_000
    /// How long the rest of a refused request is read and discarded (H96).
    public var lingerTimeout: Int64 = 2_000
    /// The maximum number of bytes discarded then (H96).
    public var maximumLinger: Int64 = 1 << 20
    /// How long an unread request body is discarded (H92).
    public var drainTimeout: Int64 = 5_000
    /// The maximum number of bytes discarded then (H92).
    public var maximumDrain: Int64 = 256 << 10
    /// Bytes read from one connection before other connections are served (H184).
    public var readPerTurn = 64 << 10
    /// Bytes read from a pipelining client while a response is pending (H81).
    public var readAhead = 16 << 10
    /// The number of unsent bytes above which no further request is started (H185).
    public var writeHigh = 256 << 10
    /// The number of unsent bytes up to which the producer of a stream resumes (H185).
    public var writeLow = 64 << 10
    /// Open connections, over all loops (H181).
    public var maximumConnections = 10_000
    /// Whether connections above the limit get a 503; otherwise they wait in the backlog (H181).
    public var repliesToOverload = true
    /// Open connections of one IPv4 address or one IPv6 network of 64 bits; trusted proxies are not counted (H182).
    public var maximumConnectionsPerAddress = 256
    /// Running handlers, over all loops (H187).
    public var maximumHandlers = 1024
    /// Requests queued for a handler (H187).
    public var maximumQueue = 4096
    /// The maximum time in that queue (H187).
    public var queueTimeout: Int64 = 5_000
    /// Bytes of request bodies that are read into memory as a whole (H186).
    public var maximumBufferedBodies = 256 << 20
    /// The trusted proxies, and the headers trusted from them (H198–H201, H205).
    public var trust = ProxyTrust()
    /// Whether connections begin with a PROXY header of a trusted proxy (H202).
    public var proxyProtocol = ProxyProtocol.off
    /// Requests of one connection (H84).
    public var maximumRequests = 10_000
    /// The age at which a connection is closed after a response, varied by ±10 %, so that connections do not end
    /// together (H84).
    public var maximumAge: Int64 = 3_600_000
    /// The connections of each listening socket that wait to be accepted (H192).
    public var backlog: Int32 = 1024

    /// Whether connections begin with a PROXY header.
    public enum ProxyProtocol: String, Sendable, CaseIterable {
        /// No: a PROXY header is an invalid request (H203).
        case off
        /// Yes, and every connection comes from a trusted proxy (H202).
        case required
    }

    /// The defaults.
    public init() {}
}
