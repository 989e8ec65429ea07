public import HTTP

/// Limits and times of a server; the defaults are those of the HTTP rules (http §25).
///
/// All times are in milliseconds, all sizes in bytes. No value means "unlimited".
public struct ServerConfiguration: Sendable {
    /// Where to listen without TLS.
    public var addresses: [ListenAddress] = [.ipv4(0x7F00_0001, port: 8080)]
    /// TLS, where it is spoken, and how.
    public var tls: TLSConfiguration?
    /// Number of loops; one per core.
    public var loops = 1
    /// Limits of a request head (H21, H55, H37).
    public var head = HeadLimits()
    /// `headerTimeout`: from the first byte of a head to its end (H174).
    public var headerTimeout: Int64 = 20_000
    /// `keepAliveTimeout`: idle between two requests (H84).
    public var keepAliveTimeout: Int64 = 75_000
    /// `bodyIdleTimeout`: without any byte of a body (H175).
    public var bodyIdleTimeout: Int64 = 15_000
    /// `minBodyRate`: bytes per second, judged after the grace (H175).
    public var minimumBodyRate: Int64 = 240
    /// `bodyGrace` (H175).
    public var bodyGrace: Int64 = 5_000
    /// `requestTimeout`: the whole of a timed request (H176).
    public var requestTimeout: Int64 = 60_000
    /// `handlerTimeout`: work on a timed request, without the time in which it waits for the body
    /// (H177).
    public var handlerTimeout: Int64 = 30_000
    /// `writeIdleTimeout`: an answer makes no progress (H178).
    public var writeIdleTimeout: Int64 = 15_000
    /// `minWriteRate`: bytes per second taken of what waits, judged after the grace (H178).
    public var minimumWriteRate: Int64 = 240
    /// `writeGrace` (H178).
    public var writeGrace: Int64 = 5_000
    /// `lingerTimeout`: how long the rest of a refused request is read and thrown away (H96).
    public var lingerTimeout: Int64 = 2_000
    /// `maxLinger`: how much of it (H96).
    public var maximumLinger: Int64 = 1 << 20
    /// `drainTimeout`: for the rest of a body nobody read (H92).
    public var drainTimeout: Int64 = 5_000
    /// `maxDrain`: how much of it (H92).
    public var maximumDrain: Int64 = 256 << 10
    /// `maxReadPerTurn`: bytes read from one connection before others have their turn (H184).
    public var readPerTurn = 64 << 10
    /// `readAhead`: bytes taken from a pipelining peer while an answer is pending (H81).
    public var readAhead = 16 << 10
    /// `writeHigh`: above this much unsent output no further request is looked at (H185).
    public var writeHigh = 256 << 10
    /// `writeLow`: a stream's producer goes on once no more than this waits (H185).
    public var writeLow = 64 << 10
    /// `maxConnections`, over all loops (H181).
    public var maximumConnections = 10_000
    /// `overloadReply`: connections above that are told so by a 503; else they wait in the backlog
    /// (H181).
    public var repliesToOverload = true
    /// `maxConnectionsPerAddress`: of one IPv4 address or one IPv6 network of 64 bits; trusted proxies
    /// are not counted (H182).
    public var maximumConnectionsPerAddress = 256
    /// `maxConcurrentRequests`: handlers at work, over all loops (H187).
    public var maximumHandlers = 1024
    /// `maxQueue`: requests that wait for a handler (H187).
    public var maximumQueue = 4096
    /// How long they wait (H187).
    public var queueTimeout: Int64 = 5_000
    /// `maxBufferedBodies`: bytes of bodies that are read into memory as a whole (H186).
    public var maximumBufferedBodies = 256 << 20
    /// Which proxies are believed, and about what (H198–H201, H205).
    public var trust = ProxyTrust()
    /// Whether connections begin with a PROXY header, from a trusted proxy (H202).
    public var proxyProtocol = ProxyProtocol.off
    /// `maxRequestsPerConnection` (H84).
    public var maximumRequests = 10_000
    /// `maxConnectionAge`, give or take a tenth, so that those of one moment do not end together (H84).
    public var maximumAge: Int64 = 3_600_000
    /// `backlog` of each listening socket (H192).
    public var backlog: Int32 = 1024

    /// Whether connections begin with a PROXY header.
    public enum ProxyProtocol: String, Sendable, CaseIterable {
        /// None does: a header is garbage (H203).
        case off
        /// Every one does, and comes from a trusted proxy (H202).
        case required
    }

    /// The defaults.
    public init() {}
}
