import CLinux
import Dispatch
import Glibc
import HTTP
import SystemSupport

/// An event loop: it runs many connections on one thread with epoll.
///
/// The loop runs on a serial Dispatch queue. A permanent `DispatchSource` watches the epoll descriptor and
/// starts a run; the run then stays in `epoll_wait` for up to 20 ms before it returns to Dispatch, because
/// going through Dispatch costs four times as much as waiting directly.
///
/// It is also an executor: handlers run on the loop of their connection, and continuations return to it
/// through an eventfd.
@safe final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // Sendable because mutable state is used only on the loop's queue, except `externalWork`, which has its
    // own lock.
    let number: Int
    /// Receives the duration of each turn, which is the maximum delay of an event.
    private let observer: (any RequestObserver)?
    private let queue: DispatchQueue
    private let epoll: Int32
    private let wakeDescriptor: Int32
    private let timer: Int32
    private var source: (any DispatchSourceRead)?
    private var hasStarted = false
    private let events: UnsafeMutableBufferPointer<epoll_event>

    /// Work from other threads.
    private let externalWork = Locked(ExternalWork())
    private var localJobs: [UnownedJob] = []
    private var wheel: DeadlineWheel
    private var timerIsArmedFor: Int64 = 0
    private var delayed = DelayedWork()
    /// Whether the last wait was short, so that the next one polls before it sleeps.
    private var spinsBeforeWait = false
    private var handlers: [Int32: any EventHandler] = [:]
    private var connections = ConnectionTable()
    private var queued: [Connection] = []
    private var flushing: [Connection] = []
    private var resumed: [Connection] = []

    /// The buffer into which all connections receive.
    let readBuffer: UnsafeMutableBufferPointer<UInt8>
    /// The parser for heads that arrive whole, which most do; its storage is reused.
    var parser: RequestParser
    /// Empty output buffers; connections borrow them while they have output.
    private var spareOutputs: [[UInt8]] = []
    /// The clocks at the start of this turn.
    private(set) var clock = LoopClock()
    /// The buffers that the TLS sessions of this loop share; created with the first session.
    private(set) lazy var tlsBuffers = TLSBuffers()
    private var identifiers = RequestIDGenerator()
    /// The limits and timeouts of this loop; they can be replaced (H196).
    var configuration: ServerConfiguration {
        didSet { parser = RequestParser(limits: configuration.head) }
    }

    /// Creates a loop that is not started.
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
        wakeDescriptor = eventfd(0, O_NONBLOCK | O_CLOEXEC)
        guard wakeDescriptor >= 0 else { throw SystemError("eventfd") }
        timer = timerfd_create(CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC)
        guard timer >= 0 else { throw SystemError("timerfd_create") }
        unsafe events = .allocate(capacity: 256)
        unsafe events.initialize(repeating: epoll_event())
        unsafe readBuffer = .allocate(capacity: 64 << 10)
        unsafe readBuffer.initialize(repeating: 0)
        wheel = DeadlineWheel(now: clock.milliseconds)
        control(EPOLL_CTL_ADD, wakeDescriptor, EPOLLIN.rawValue)
        control(EPOLL_CTL_ADD, timer, EPOLLIN.rawValue)
    }

    deinit {
        // Everything that can wake the loop holds a reference to it, so the eventfd is unused now.
        close(wakeDescriptor)
        if !hasStarted { closeDescriptors() }
        unsafe events.deallocate()
        unsafe readBuffer.deallocate()
    }

    /// Starts the loop; from now on everything happens on its queue.
    func start() {
        hasStarted = true
        let source = DispatchSource.makeReadSource(fileDescriptor: epoll, queue: queue)
        source.setEventHandler { @Sendable [self] in run() }
        source.setCancelHandler { @Sendable [self] in
            closeDescriptors()
            runRemainingWork()
        }
        self.source = source
        source.resume()
    }

    /// Stops the loop; its connections and listeners must be closed. Called on the loop.
    ///
    /// Handlers that are still running continue on its queue.
    func stop() {
        externalWork.withLock { externalWork in externalWork.stop() }
        delayed.removeAll()
        source?.cancel()
        source = nil
    }

    private func closeDescriptors() {
        close(timer)
        close(epoll)
    }

    // MARK: Watching descriptors

    /// Watches a descriptor that is not a connection, such as a listener.
    func watch(_ descriptor: Int32, _ handler: any EventHandler) {
        handlers[descriptor] = handler
        control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue)
    }

    /// Stops watching a descriptor; the caller closes it.
    func unwatch(_ descriptor: Int32) {
        handlers[descriptor] = nil
        control(EPOLL_CTL_DEL, descriptor, 0)
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: UInt32, generation: UInt32 = 0
    ) {
        var event = unsafe epoll_event()
        unsafe event.events = interest
        let key = ConnectionKey(descriptor: descriptor, generation: generation)
        unsafe event.data.u64 = key.eventData
        // This fails only for a closed descriptor, which is an error of the caller.
        _ = unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    // MARK: Connections

    /// Adds a connection, edge-triggered: epoll reports a change once, and the connection stores which
    /// changes it has not used yet. This avoids checking every ready socket in every turn, and system calls that change
    /// the watched events.
    func add(_ connection: Connection) {
        connections.add(connection)
        let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        control(
            EPOLL_CTL_ADD, connection.socket.descriptor, interest, generation: connection.generation
        )
    }

    /// Removes a connection; closing its descriptor removes it from epoll.
    func remove(_ connection: Connection) { connections.remove(connection) }

    /// All connections.
    var allConnections: [Connection] { connections.all }

    /// Records a connection whose TLS handshake begins.
    func handshakeBegins(_ connection: Connection) {
        connections.handshakeBegins(connection, at: now)
    }

    /// Aborts the oldest handshake (H168): otherwise two clients that send nothing could block all others.
    ///
    /// - Returns: False when all handshakes are young.
    func abortOldestHandshake() -> Bool {
        guard let oldest = connections.oldestHandshake(at: now) else { return false }
        oldest.abort("handshake")
        return true
    }

    /// Schedules a connection to read in the next turn, after the other connections (H184).
    func resumeReading(_ connection: Connection) { resumed.append(connection) }

    /// Schedules a connection to be flushed at the end of this turn.
    func flushLater(_ connection: Connection) { queued.append(connection) }

    /// Lends an empty output buffer, if there is one.
    func borrowOutputBuffer(to bytes: inout [UInt8]) {
        if let spare = spareOutputs.popLast() { bytes = spare }
    }

    /// Takes an empty output buffer back: one of any size, the others only up to 16 KiB, so that a loop keeps
    /// at most 1 MiB.
    func returnOutputBuffer(from bytes: inout [UInt8]) {
        if spareOutputs.isEmpty || spareOutputs.count < 64 && bytes.capacity <= 16 << 10 {
            spareOutputs.append(bytes)
        }
        bytes = []
    }

    /// Schedules ``Connection/expire()`` for the deadline of a connection.
    func schedule(_ connection: Connection) {
        connection.wheelTime = wheel.insert(ConnectionKey(connection), at: connection.deadline)
    }

    // MARK: Time

    /// The monotonic clock at the start of this turn, in milliseconds.
    var now: Int64 { clock.milliseconds }

    /// Adds the `Strict-Transport-Security` header line to TLS responses; before the start.
    func setStrictTransport(_ line: [UInt8]) { clock.strictTransportLine = line }

    /// The id of the next request.
    func nextRequestID() -> RequestID { identifiers.next(at: clock.wallClock) }
}

/// A watched descriptor other than a connection.
protocol EventHandler: AnyObject {
    /// Called when there is input.
    func ready()
}

// MARK: Turns
extension EventLoop {
    /// The time in nanoseconds that a busy loop polls before it sleeps.
    ///
    /// Waking up is expensive on both sides: the sender calls the scheduler, and this loop starts on a cold
    /// core. Two peers on one machine need less than 50 µs between two requests.
    private static let spinDuration: Int64 = 50_000

    /// Runs turns until nothing happens for 20 ms, then returns to Dispatch.
    private func run() {
        CurrentLoop.value = self
        defer { CurrentLoop.value = nil }
        var began = MonotonicClock.nanoseconds
        while true {
            // A turn with other work does not wait, so an empty poll does not mean that the loop is idle.
            let isBusy = !localJobs.isEmpty || !resumed.isEmpty
            let ready = wait(from: began)
            clock.update()
            resumeConnections()
            if ready > 0 { handle(Int(ready)) }
            for connection in wheel.turn(to: now) { expire(connection) }
            for work in delayed.takeDue(at: now) { work() }
            runJobs()
            flush()
            // One reading of the clock serves for the duration of this turn and for the next wait.
            began = MonotonicClock.nanoseconds
            observer?.finishedTurn(loop: number, nanoseconds: began - clock.nanoseconds)
            if ready <= 0, !isBusy, localJobs.isEmpty, resumed.isEmpty { break }
        }
        armTimer()
    }

    /// Waits for events; only polls while there is other work.
    ///
    /// After a short wait the next one is expected to be short too and begins with polling; after a long one
    /// the loop sleeps at once, so that an idle loop costs nothing.
    private func wait(from began: Int64) -> Int32 {
        guard localJobs.isEmpty, resumed.isEmpty else { return poll(for: 0) }
        if spinsBeforeWait {
            repeat {
                let ready = poll(for: 0)
                if ready != 0 { return ready }
                // Other threads, such as those of the database, go first.
                sched_yield()
            } while MonotonicClock.nanoseconds - began < Self.spinDuration
        }
        let ready = poll(for: 20)
        // Waking up takes about as long again.
        spinsBeforeWait = MonotonicClock.nanoseconds - began < 2 * Self.spinDuration
        return ready
    }

    private func poll(for milliseconds: Int32) -> Int32 {
        unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)
    }

    private func resumeConnections() {
        guard !resumed.isEmpty else { return }
        let batch = resumed
        resumed = []
        for connection in batch { connection.resume() }
    }

    private func handle(_ ready: Int) {
        for index in 0..<ready {
            let event = unsafe events[index]
            let key = unsafe ConnectionKey(eventData: event.data.u64)
            if key.generation != 0 {
                // An event of this batch may belong to an earlier connection with the same descriptor.
                unsafe connections[key]?.ready(event.events)
            } else if key.descriptor == wakeDescriptor {
                var count: eventfd_t = 0
                _ = unsafe eventfd_read(wakeDescriptor, &count)
            } else if key.descriptor == timer {
                var expirations: UInt64 = 0
                _ = unsafe read(timer, &expirations, 8)
                timerIsArmedFor = 0
            } else {
                handlers[key.descriptor]?.ready()
            }
        }
    }

    private func expire(_ key: ConnectionKey) {
        guard let connection = connections[key] else { return }
        if connection.deadline <= now {
            connection.wheelTime = .max
            connection.expire()
        } else if connection.wheelTime <= now {
            // The deadline was moved; one that never comes is not put into the wheel.
            connection.wheelTime = .max
            if connection.deadline < .max { schedule(connection) }
        }
    }

    private func flush() {
        while !queued.isEmpty {
            // Two lists are used alternately, so that none is allocated again.
            swap(&queued, &flushing)
            for connection in flushing { connection.turnEnded() }
            flushing.removeAll(keepingCapacity: true)
        }
    }

    /// Sets the timer for the next deadline, so that idle connections need no polling.
    private func armTimer() {
        guard let next = nextDeadline, next != timerIsArmedFor else { return }
        timerIsArmedFor = next
        var times = itimerspec()
        let ahead = max(next - now, 1)
        times.it_value.tv_sec = Int(ahead / 1000)
        times.it_value.tv_nsec = Int(ahead % 1000 * 1_000_000)
        _ = unsafe timerfd_settime(timer, 0, &times, nil)
    }

    /// The next time at which the loop must be awake, in monotonic milliseconds; `nil` for none.
    private var nextDeadline: Int64? {
        let first = delayed.next
        guard let next = wheel.next else { return first }
        return first.map { first in min(first, next) } ?? next
    }

    /// Runs work on the loop after a delay; called on the loop.
    ///
    /// It uses the loop's own timer: Dispatch opens a descriptor for its first timer, so a listener that
    /// waits for free descriptors would never resume (H183).
    func after(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        delayed.add(at: MonotonicClock.milliseconds + milliseconds, work)
    }
}

// MARK: Work from other threads
extension EventLoop {
    /// Enqueues a job of a task that runs on this loop.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            localJobs.append(job)
        } else {
            submit { externalWork in externalWork.add(job) }
        }
    }

    /// The reference to this loop as a serial executor.
    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Whether the current thread runs this loop.
    private var isCurrent: Bool { CurrentLoop.value === self }

    /// Runs work on the loop: at once when called there, otherwise in its next turn.
    func perform(_ work: @escaping @Sendable () -> Void) {
        if isCurrent {
            work()
        } else {
            submit { externalWork in externalWork.add(work) }
        }
    }

    private func submit(_ add: (inout ExternalWork) -> Void) {
        let (wasEmpty, isStopped) = externalWork.withLock { externalWork in
            let wasEmpty = externalWork.isEmpty
            add(&externalWork)
            return (wasEmpty, externalWork.isStopped)
        }
        guard wasEmpty else { return }
        if isStopped {
            queue.async { @Sendable [self] in runRemainingWork() }
        } else {
            // `queue.async` would wait for a run in progress; the eventfd ends its `epoll_wait`.
            eventfd_write(wakeDescriptor, 1)
        }
    }

    /// Runs the waiting jobs, and a few rounds of the jobs that these add, so that responses to pipelined
    /// requests are sent together.
    private func runJobs() {
        for _ in 0..<16 {
            let taken = takeExternalWork()
            guard !localJobs.isEmpty || !taken.isEmpty else { return }
            run(taken)
        }
    }

    /// Runs work after the loop has stopped: a handler that outlives its connection runs to its end.
    private func runRemainingWork() {
        CurrentLoop.value = self
        defer { CurrentLoop.value = nil }
        while true {
            let taken = takeExternalWork()
            if localJobs.isEmpty, taken.isEmpty { return }
            run(taken)
        }
    }

    private func takeExternalWork() -> ExternalWork {
        externalWork.withLock { externalWork in externalWork.takeAll() }
    }

    private func run(_ taken: ExternalWork) {
        let jobs = localJobs
        localJobs = []
        for work in taken.work { work() }
        for job in jobs { run(job) }
        for job in taken.jobs { run(job) }
    }

    private func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
}

/// The event loop that the calling thread runs, if any.
enum CurrentLoop {
    // A pthread key, because Swift has no thread-local storage and the loop moves between Dispatch's threads.
    // The pointer is not retained; a loop sets and clears it around its run.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    static var value: EventLoop? {
        get {
            guard let pointer = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue()
        }
        set {
            unsafe pthread_setspecific(
                key,
                newValue.map { loop in
                    unsafe UnsafeRawPointer(Unmanaged.passUnretained(loop).toOpaque())
                })
        }
    }
}
