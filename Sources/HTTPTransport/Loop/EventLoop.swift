import CLinux
import Dispatch
import Glibc
import HTTP
import Locking

/// One thread's worth of connections: an epoll descriptor, what is to be done, and whose time is up.
///
/// The loop lives on a serial Dispatch queue. One permanent `DispatchSource` watches the epoll
/// descriptor and starts a run; the run then stays in `epoll_wait` for up to 20 ms before it goes back
/// to Dispatch, because the way through Dispatch costs four times a wait of our own (measured at one
/// connection: 0.73 × nginx without that stay, 1.14 × with it).
///
/// It is an executor too: handlers run on the loop of their connection, and continuations come back
/// to it through an eventfd.
@safe final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // Sendable because everything mutable is touched on the loop's queue only, except `foreign`,
    // which has a lock of its own.
    let number: Int
    /// Told how long each turn took: so late may the next event be seen.
    let observer: (any RequestObserver)?
    let queue: DispatchQueue
    let epoll: Int32
    let wakeUp: Int32
    let timer: Int32
    private var source: (any DispatchSourceRead)?
    private var hasStarted = false
    let events: UnsafeMutableBufferPointer<epoll_event>

    /// What other threads have handed over.
    let foreign = Locked(Foreign())
    var localJobs: [UnownedJob] = []
    var wheel: DeadlineWheel
    var timerIsArmedFor: Int64 = 0
    var delayed: [Delayed] = []
    /// The last wait was short, so the next one begins with a look out.
    var looksOut = false
    private var handlers: [Int32: any EventHandler] = [:]
    private var connections: [Connection?] = []
    /// In the order in which they began; at the front stands one that is not over.
    var handshakes: ArraySlice<Handshake> = []
    var queued: [Connection] = []
    var flushing: [Connection] = []
    var resumed: [Connection] = []

    /// What the loop lends to the connection at work.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    /// For heads that arrive whole, which most do; its storage is used again and again.
    var parser: RequestParser
    /// Lent for output and taken back when all of it could be sent.
    private var spareOutputs: [[UInt8]] = []
    /// Monotonic nanoseconds at the beginning of this turn.
    var nanoseconds: Int64
    /// The same in milliseconds.
    var now: Int64
    /// Milliseconds since 1970 at the beginning of this turn.
    var wallClock: UInt64 = 0
    /// `Date` as a line, renewed once a second (H93).
    var dateLine: [UInt8] = []
    /// The same for connections over TLS, with what these always say (H125).
    var secureDateLine: [UInt8] = []
    /// `Strict-Transport-Security` as a line; empty where nothing is said. Set before the start.
    var strictTransportLine: [UInt8] = []
    var dateSecond: Int64 = 0
    /// What the TLS sessions of this loop have in common; made with the first one.
    private(set) lazy var wire = TLSWire()
    private var identifiers = RequestIDSource()
    /// The limits and times of everything on this loop; others may follow (H196).
    var configuration: ServerConfiguration {
        didSet { parser = RequestParser(limits: configuration.head) }
    }

    /// Makes a loop that runs nothing yet.
    init(
        number: Int, configuration: ServerConfiguration, observer: (any RequestObserver)? = nil
    ) throws(SystemError) {
        self.number = number
        self.observer = observer
        self.configuration = configuration
        parser = RequestParser(limits: configuration.head)
        queue = DispatchQueue(label: "parley.loop.\(number)", qos: .userInitiated)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        // EFD_ constants are not imported; they equal the O_ constants by definition.
        wakeUp = eventfd(0, O_NONBLOCK | O_CLOEXEC)
        guard wakeUp >= 0 else { throw SystemError("eventfd") }
        timer = timerfd_create(CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC)
        guard timer >= 0 else { throw SystemError("timerfd_create") }
        unsafe events = .allocate(capacity: 256)
        unsafe events.initialize(repeating: epoll_event())
        unsafe readBuffer = .allocate(capacity: 64 << 10)
        unsafe readBuffer.initialize(repeating: 0)
        nanoseconds = MonotonicClock.nanoseconds
        now = nanoseconds / 1_000_000
        wheel = DeadlineWheel(now: now)
        control(EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue, generation: 0)
        control(EPOLL_CTL_ADD, timer, EPOLLIN.rawValue, generation: 0)
    }

    deinit {
        // Only now can nobody wake the loop any more: whoever does holds a reference to it.
        close(wakeUp)
        if !hasStarted { closeDescriptors() }
        unsafe events.deallocate()
        unsafe readBuffer.deallocate()
    }

    /// Begins to watch; from now on everything happens on the queue.
    func start() {
        hasStarted = true
        let source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
        source.setEventHandler { @Sendable [self] in run() }
        source.setCancelHandler { @Sendable [self] in
            closeDescriptors()
            runLeftovers()
        }
        self.source = source
        source.resume()
    }

    /// Ends the loop; its connections and listeners must be gone. Called on the loop.
    ///
    /// Handlers that still wait for something find it a plain queue from now on.
    func stop() {
        foreign.withLock { foreign in foreign.isStopped = true }
        delayed = []
        source?.cancel()
        source = nil
    }

    private func closeDescriptors() {
        close(timer)
        close(epoll)
    }

    // MARK: Watching descriptors

    /// Watches a descriptor that is no connection, such as a listener.
    func watch(_ descriptor: Int32, _ handler: any EventHandler) {
        handlers[descriptor] = handler
        control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue, generation: 0)
    }

    /// Stops watching it; the caller closes it.
    func unwatch(_ descriptor: Int32) {
        handlers[descriptor] = nil
        control(EPOLL_CTL_DEL, descriptor, 0, generation: 0)
    }

    /// Who watches a descriptor that is no connection.
    func handler(of descriptor: Int32) -> (any EventHandler)? { handlers[descriptor] }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: UInt32, generation: UInt32
    ) {
        var event = unsafe epoll_event()
        unsafe event.events = interest
        unsafe event.data.u64 = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        // Fails only for a descriptor that is not (or no longer) open, which the caller has in hand.
        _ = unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    // MARK: Connections

    /// Takes a connection in, edge-triggered: the kernel tells of a change once, and the connection
    /// remembers what it has not used yet. It saves a look at every socket in every turn, and the
    /// calls that would change what is waited for.
    func add(_ connection: Connection) {
        let descriptor = Int(connection.descriptor)
        while connections.count <= descriptor { connections.append(nil) }
        connections[descriptor] = connection
        let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        control(EPOLL_CTL_ADD, connection.descriptor, interest, generation: connection.generation)
    }

    /// Lets a connection go; closing the descriptor takes it out of the epoll set.
    func remove(_ connection: Connection) {
        connections[Int(connection.descriptor)] = nil
    }

    /// The connection that had this number when something was noted about it, if it still lives.
    func connection(_ descriptor: Int32, _ generation: UInt32) -> Connection? {
        guard
            Int(descriptor) < connections.count, let connection = connections[Int(descriptor)],
            connection.generation == generation
        else { return nil }
        return connection
    }

    /// All connections, for draining.
    var allConnections: [Connection] { connections.compactMap { connection in connection } }

    /// Lets a connection go on reading in the next turn, after the others had theirs (H184).
    func resumeReading(_ connection: Connection) { resumed.append(connection) }

    /// Flushes a connection at the end of this turn, once (corking).
    func flushLater(_ connection: Connection) { queued.append(connection) }

    /// Lends an empty buffer, where there is one.
    func lendOutput(to octets: inout [UInt8]) {
        if let spare = spareOutputs.popLast() { octets = spare }
    }

    /// Takes an empty buffer back: one as large as it may be, the others only while they are small, so
    /// that a loop keeps 1 MiB at most.
    func takeOutput(from octets: inout [UInt8]) {
        if spareOutputs.isEmpty || spareOutputs.count < 64 && octets.capacity <= 16 << 10 {
            spareOutputs.append(octets)
        }
        octets = []
    }

    /// Sees to it that ``Connection/expire()`` is called at its deadline.
    func schedule(_ connection: Connection) {
        connection.wheelTime = wheel.insert(
            .init(descriptor: connection.descriptor, generation: connection.generation),
            at: connection.deadline)
    }

    /// A name for the next request.
    func nextRequestID() -> RequestID { identifiers.next(at: wallClock) }
}

/// Something other than a connection that waits for input on a loop.
protocol EventHandler: AnyObject {
    /// There is input.
    func ready()
}
