import Dispatch
import Glibc
import HTTP
import Testing

@testable import HTTPTransport

/// The tests over sockets. They run one after another, because some count and measure.
@Suite(.serialized, .timeLimit(.minutes(5))) enum LiveServerTests {}

/// A server of one test, which listens on its own port.
struct LiveServer: Sendable {
    let server: Server
    let address: ListenAddress

    /// A new connection.
    func connect() throws -> Client { try Client(to: address) }

    /// A new connection on which the first bytes were sent within that many milliseconds.
    ///
    /// A server limits the time from accepting a connection to its first head. If this process was stalled for
    /// longer, the server may rightly have closed the connection, and another one is made.
    func connect(sending text: String, within milliseconds: Int) throws -> Client {
        while true {
            let start = ContinuousClock.now
            let client = try connect()
            let isSent = (try? client.send(text)) != nil
            if isSent, ContinuousClock.now - start < .milliseconds(milliseconds) { return client }
        }
    }

    /// One request on its own connection, up to the end of that connection.
    func exchange(_ request: String) throws -> String {
        let client = try connect()
        try client.send(request)
        client.finishSending()
        return try client.rest()
    }

    /// Waits until the loop has read all that was sent so far, by an exchange on another
    /// connection.
    func settle() throws { _ = try exchange("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n") }

    /// The descriptors of this process that belong to this server or to connections with it,
    /// on either side.
    var descriptors: [Int32] {
        (0..<Int32(sysconf(Int32(_SC_OPEN_MAX)))).filter { descriptor in
            var form = sockaddr_in()
            let isIPv4 = { (length: socklen_t) in length == MemoryLayout<sockaddr_in>.size }
            return [getsockname, getpeername].contains { name in
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let result = withUnsafeMutablePointer(to: &form) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        name(descriptor, pointer, &length)
                    }
                }
                return result == 0 && isIPv4(length) && form.sin_port.bigEndian == address.port
            }
        }
    }
}

extension ListenAddress {
    var port: UInt16 {
        switch self {
        case .ipv4(_, let port), .ipv6(_, let port): port
        case .unix: 0
        }
    }
}

extension Client {
    /// Connects over TCP or a Unix socket.
    convenience init(to address: ListenAddress) throws {
        self.init(descriptor: try Self.connect(to: address))
    }

    /// A connected socket.
    static func connect(to address: ListenAddress) throws -> Int32 {
        let family =
            switch address {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case .unix: AF_UNIX
            }
        let descriptor = socket(
            family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system(errno) }
        let connected = SocketAddress.withKernelForm(address) { form, length in
            Glibc.connect(descriptor, form, length)
        }
        guard connected == 0 else {
            let code = errno
            close(descriptor)
            throw Failure.system(code)
        }
        var on: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }
}

/// Runs a server while `body` sends requests to it.
///
/// `body` blocks, so it runs on its own thread and never on Swift's pool.
func serving<Result: Sendable>(
    _ service: any Service = TestService(), observer: (any RequestObserver)? = nil,
    with change: (inout ServerConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (LiveServer) throws -> Result
) async throws -> Result {
    var configuration = ServerConfiguration()
    configuration.addresses = [.ipv4(0x7F00_0001, port: 0)]
    // All clients of a test have one address.
    configuration.maximumConnectionsPerAddress = 20_000
    // A client may be stalled for seconds on a busy machine.
    configuration.headerTimeout = 300_000
    configuration.keepAliveTimeout = 300_000
    configuration.bodyIdleTimeout = 300_000
    configuration.bodyGrace = 300_000
    configuration.requestTimeout = 300_000
    configuration.handlerTimeout = 300_000
    configuration.queueTimeout = 300_000
    change(&configuration)
    let server = try Server(configuration, service: service, observer: observer)
    let live = LiveServer(server: server, address: try server.start()[0])
    do {
        let result = try await onThread { try body(live) }
        _ = await server.drain(deadline: 0)
        return result
    } catch {
        _ = await server.drain(deadline: 0)
        throw error
    }
}

/// Runs blocking work outside Swift's thread pool.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
    -> Result
{
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { @Sendable in
            continuation.resume(with: Swift.Result(catching: body))
        }
    }
}

/// Polls until a condition is true, and fails the test after a minute. Blocks, as the clients do.
func eventually(_ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation)
    throws
{
    for _ in 0..<6000 {
        if try condition() { return }
        usleep(10_000)
    }
    Issue.record(
        "The condition did not become true within a minute.", sourceLocation: sourceLocation)
}
