import CLinux
import Glibc
public import HTTP
import SystemSupport

/// An HTTP/1.1 server: several event loops, each with its own listener per address.
public final class Server: Sendable {
    let core: ServerCore
    private let addresses: [ListenAddress]
    private let secureAddresses: [ListenAddress]
    private let backlog: Int32
    private let writeTimeout: Int64
    let loops: [EventLoop]
    private let listeners = Locked<[(loop: EventLoop, listener: Listener)]>([])

    /// Creates a server that does not listen yet.
    ///
    /// - Throws: ``SystemError`` when the system has no epoll descriptors left, ``TLSConfigurationError``
    ///   when a certificate cannot be used.
    public init(
        _ configuration: ServerConfiguration, service: any Service,
        observer: (any RequestObserver)? = nil
    ) throws {
        let configuration = Self.bounded(configuration)
        addresses = configuration.addresses
        secureAddresses = configuration.tls?.addresses ?? []
        backlog = configuration.backlog
        writeTimeout = max(configuration.writeIdleTimeout, configuration.writeGrace)
        core = try ServerCore(configuration, service, observer)
        loops = try (0..<max(configuration.loops, 1)).map { number in
            try EventLoop(number: number, configuration: configuration, observer: observer)
        }
        if let age = configuration.tls?.strictTransportAge, age > 0 {
            let line = Array("Strict-Transport-Security: max-age=\(age)\r\n".utf8)
            for loop in loops { loop.setStrictTransport(line) }
        }
    }

    /// Applies new limits, timeouts and trusted proxies to later requests, without touching connections
    /// (H196). Addresses, backlog and the number of loops do not change.
    public func apply(_ configuration: ServerConfiguration) {
        let configuration = Self.bounded(configuration)
        core.apply(configuration)
        for loop in loops { loop.perform { loop.configuration = configuration } }
    }

    /// Limits the connections to the available descriptors, minus those for files, database and loops (H181).
    private static func bounded(_ configuration: ServerConfiguration) -> ServerConfiguration {
        var configuration = configuration
        configuration.maximumConnections = min(
            configuration.maximumConnections, max(DescriptorLimit.raise() - 64, 1))
        return configuration
    }

    /// Starts to listen and serve.
    ///
    /// - Returns: The addresses with the ports that the system has chosen; those with TLS are last.
    /// - Throws: ``SystemError`` when an address is in use or not available.
    public func start() throws -> [ListenAddress] {
        signal(SIGPIPE, SIG_IGN)
        var bound: [ListenAddress] = []
        do {
            for address in addresses { bound.append(try listen(on: address, through: nil)) }
            for address in secureAddresses {
                bound.append(try listen(on: address, through: core.tls))
            }
        } catch {
            listeners.withLock { listeners in
                for (_, listener) in listeners { listener.discard() }
                listeners = []
            }
            throw error
        }
        for loop in loops { loop.start() }
        for (loop, listener) in listeners.withLock({ listeners in listeners }) {
            loop.perform { listener.open() }
        }
        return bound
    }

    private func listen(on address: ListenAddress, through acceptor: TLSAcceptor?) throws
        -> ListenAddress
    {
        if case .unix = address {
            let descriptor = try Socket.listen(on: address, backlog: backlog, shares: false)
            add(descriptor, isTCP: false, acceptor, loops[0])
            return address
        }
        // Bound exclusively first: only that reveals an address in use (see `Socket.listen`).
        let probe = try Socket.listen(on: address, backlog: 1, shares: false)
        let exact = address.with(port: SocketAddress.boundPort(probe))
        close(probe)
        for loop in loops {
            let descriptor = try Socket.listen(on: exact, backlog: backlog, shares: true)
            Socket.configureListening(descriptor, writeTimeout: writeTimeout)
            add(descriptor, isTCP: true, acceptor, loop)
        }
        return exact
    }

    private func add(_ descriptor: Int32, isTCP: Bool, _ acceptor: TLSAcceptor?, _ loop: EventLoop)
    {
        let listener = Listener(
            descriptor: descriptor, isTCP: isTCP, acceptor: acceptor, server: core, loop: loop)
        listeners.withLock { listeners in listeners.append((loop, listener)) }
    }

    /// The number of open connections.
    public var connectionCount: Int { core.connectionCount }

    /// Whether the server was started.
    var hasStarted: Bool { !listeners.withLock { listeners in listeners.isEmpty } }

    /// The number of connections accepted since the start.
    var acceptedCount: Int { core.acceptedCount }

    /// The number of clients with counted connections (H182).
    public var clientCount: Int { core.clientCount }

    /// The numbers of running handlers and of requests queued for one (H187).
    public var handlerCounts: (running: Int, waiting: Int) { core.handlers.counts }

    /// The memory used by request bodies, in bytes (H186).
    public var bufferedCount: Int { core.bodies.count }

    /// Stops in order: accepts no connections, finishes the requests in progress, then ends (H194).
    ///
    /// - Parameter deadline: Milliseconds after which the rest is aborted.
    /// - Returns: Whether everything was finished.
    public func drain(deadline: Int64) async -> Bool {
        core.beginDraining()
        for (loop, listener) in listeners.withLock({ listeners in listeners }) {
            await loop.run { listener.close() }
        }
        for loop in loops {
            await loop.run { for connection in loop.allConnections { connection.drain() } }
        }
        let end = MonotonicClock.milliseconds + deadline
        while core.connectionCount > 0, MonotonicClock.milliseconds < end {
            await pause(milliseconds: 5)
        }
        let isClean = core.connectionCount == 0
        for loop in loops {
            await loop.run {
                for connection in loop.allConnections { connection.abort("stopping") }
                loop.stop()
            }
        }
        return isClean
    }
}

extension EventLoop {
    /// Runs work on the loop and waits for it.
    fileprivate func run(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            perform {
                work()
                continuation.resume()
            }
        }
    }
}

// MARK: TLS
extension Server {
    /// Reloads certificates, keys and the CA bundle; new connections use them (H165).
    ///
    /// Blocks while files are read. Addresses, timeouts and ticket rotation do not change.
    /// - Throws: ``TLSConfigurationError``; then nothing has changed.
    public func reload(tls configuration: TLSConfiguration) throws(TLSConfigurationError) {
        try core.tls?.reload(configuration)
    }

    /// The certificates that new connections use (H166); none without TLS.
    public var certificates: [ServedCertificate] {
        guard let context = core.tls?.current else { return [] }
        return zip(context.configuration.certificates, context.certificates).map { files, served in
            ServedCertificate(file: files.chain, names: served.subjects, expiry: served.expiry)
        }
    }

    /// Warnings about the certificates, for the operator (H165).
    public var certificateWarnings: [String] { core.tls?.current.warnings ?? [] }

    /// The counters of TLS handshakes.
    public var tlsStatistics: TLSStatistics { core.tls?.statistics ?? TLSStatistics() }
}
