import CLinux
import Glibc
public import HTTP
import SystemSupport

/// An HTTP/1.1 server: several loops, each with a listener of its own per address.
public final class Server: Sendable {
    let core: ServerCore
    private let addresses: [ListenAddress]
    private let secureAddresses: [ListenAddress]
    private let backlog: Int32
    private let patience: Int64
    let loops: [EventLoop]
    private let listeners = Locked<[(loop: EventLoop, listener: Listener)]>([])

    /// Makes a server that listens nowhere yet.
    ///
    /// - Throws: ``SystemError`` when the system gives no epoll descriptors, ``TLSConfigurationError`` when a
    ///   certificate cannot be served.
    public init(
        _ configuration: ServerConfiguration, service: any Service,
        observer: (any RequestObserver)? = nil
    ) throws {
        let configuration = Self.bounded(configuration)
        addresses = configuration.addresses
        secureAddresses = configuration.tls?.addresses ?? []
        backlog = configuration.backlog
        patience = max(configuration.writeIdleTimeout, configuration.writeGrace)
        core = try ServerCore(configuration, service, observer)
        loops = try (0..<max(configuration.loops, 1)).map { number in
            try EventLoop(number: number, configuration: configuration, observer: observer)
        }
        if let age = configuration.tls?.strictTransportAge, age > 0 {
            let line = Array("Strict-Transport-Security: max-age=\(age)\r\n".utf8)
            for loop in loops { loop.strictTransportLine = line }
        }
    }

    /// Takes new limits, times and trusted proxies, without touching a connection (H196): requests
    /// whose heads come from now on follow them. Addresses, backlog and loops stay as they are.
    public func apply(_ configuration: ServerConfiguration) {
        let configuration = Self.bounded(configuration)
        core.apply(configuration)
        for loop in loops { loop.perform { loop.configuration = configuration } }
    }

    /// With no more connections than there are descriptors for: files, the database and the loops need
    /// some, too (H181).
    private static func bounded(_ configuration: ServerConfiguration) -> ServerConfiguration {
        var configuration = configuration
        configuration.maximumConnections = min(
            configuration.maximumConnections, max(DescriptorLimit.raise() - 64, 1))
        return configuration
    }

    /// Listens and serves.
    ///
    /// - Returns: The addresses with the ports that the system chose, those with TLS last.
    /// - Throws: ``SystemError`` when an address is in use or not ours.
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

    private func listen(on address: ListenAddress, through door: TLSAcceptor?) throws
        -> ListenAddress
    {
        if case .unix = address {
            let descriptor = try Socket.listen(on: address, backlog: backlog, shares: false)
            add(descriptor, isTCP: false, door, loops[0])
            return address
        }
        // Taken alone first: only so does an address in use show (see `Socket.listen`).
        let probe = try Socket.listen(on: address, backlog: 1, shares: false)
        let exact = address.with(port: SocketAddress.boundPort(probe))
        close(probe)
        for loop in loops {
            let descriptor = try Socket.listen(on: exact, backlog: backlog, shares: true)
            Socket.configureListening(descriptor, patience: patience)
            add(descriptor, isTCP: true, door, loop)
        }
        return exact
    }

    private func add(_ descriptor: Int32, isTCP: Bool, _ door: TLSAcceptor?, _ loop: EventLoop) {
        let listener = Listener(
            descriptor: descriptor, isTCP: isTCP, door: door, server: core, loop: loop)
        listeners.withLock { listeners in listeners.append((loop, listener)) }
    }

    /// How many connections are open.
    public var connectionCount: Int { core.connectionCount }

    /// Whether the loops run, or did.
    var hasStarted: Bool { !listeners.withLock { listeners in listeners.isEmpty } }

    /// How many connections were accepted since the start.
    var acceptedCount: Int { core.acceptedCount }

    /// How many clients have connections that are counted for them (H182).
    public var clientCount: Int { core.clientCount }

    /// How many handlers work, and how many requests wait for one (H187).
    public var handlerCounts: (running: Int, waiting: Int) { core.handlers.counts }

    /// How many bytes of bodies are held in memory as a whole (H186).
    public var bufferedCount: Int { core.bodies.count }

    /// Stops in good order: takes no new connections, finishes what has begun, then ends (H194).
    ///
    /// - Parameter deadline: Milliseconds until the rest is cut off.
    /// - Returns: Whether everything could be finished.
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
    /// Runs something on the loop and waits for it.
    fileprivate func run(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            perform {
                work()
                continuation.resume()
            }
        }
    }
}

// What can be asked and changed about TLS while a server runs.
extension Server {
    /// Reads certificates, keys and bundle anew: new connections use them, others go on (H165).
    ///
    /// Blocks while files are read. Addresses, time limits and rotation stay as they were.
    /// - Throws: ``TLSConfigurationError``; then everything is as it was.
    public func reload(tls configuration: TLSConfiguration) throws(TLSConfigurationError) {
        try core.tls?.reload(configuration)
    }

    /// The certificates that new connections get (H166); none without TLS.
    public var certificates: [ServedCertificate] {
        guard let context = core.tls?.current else { return [] }
        return zip(context.configuration.certificates, context.certificates).map { files, served in
            ServedCertificate(file: files.chain, names: served.subjects, expiry: served.expiry)
        }
    }

    /// What an operator should hear about the certificates (H165).
    public var certificateWarnings: [String] { core.tls?.current.warnings ?? [] }

    /// Handshakes so far.
    public var tlsStatistics: TLSStatistics { core.tls?.statistics ?? TLSStatistics() }
}
