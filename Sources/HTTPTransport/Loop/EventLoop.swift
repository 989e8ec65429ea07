import CLinux
import Dispatch
import Glibc
import HTTP
import SystemSupport

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
    let wakeDescriptor: Int32
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
    var spinsBeforeWait = false
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
    private(set) lazy var wire = TLSBuffers()
    private var identifiers = RequestIDGenerator()
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
        wakeDescriptor = eventfd(0, O_NONBLOCK | O_CLOEXEC)
        guard wakeDescriptor >= 0 else { throw SystemError("eventfd") }
        timer = timerfd_create(CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC)
        guard timer >= 0 else { throw SystemError("timerfd_create") }
        unsafe events = .allocate(capacity: 256)
        unsafe events.initialize(repeating: epoll_event())
        unsafe readBuffer = .allocate(capacity: 64 << 10)
        unsafe readBuffer.initialize(repeating: 0)
        nanoseconds = MonotonicClock.nanoseconds
        now = nanoseconds / 1_000_000
        wheel = DeadlineWheel(now: now)
        control(EPOLL_CTL_ADD, wakeDescriptor, EPOLLIN.rawValue, generation: 0)
        control(EPOLL_CTL_ADD, timer, EPOLLIN.rawValue, generation: 0)
    }

    deinit {
        // Only now can nobody wake the loop any more: whoever does holds a reference to it.
        close(wakeDescriptor)
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
            runRemainingWork()
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
    func borrowOutputBuffer(to bytes: inout [UInt8]) {
        if let spare = spareOutputs.popLast() { bytes = spare }
    }

    /// Takes an empty buffer back: one as large as it may be, the others only while they are small, so
    /// that a loop keeps 1 MiB at most.
    func returnOutputBuffer(from bytes: inout [UInt8]) {
        if spareOutputs.isEmpty || spareOutputs.count < 64 && bytes.capacity <= 16 << 10 {
            spareOutputs.append(bytes)
        }
        bytes = []
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

// What happens in one turn of the loop.
extension EventLoop {
    /// How long a loop that expects more looks for it before it falls asleep, in nanoseconds.
    ///
    /// Being woken costs both sides: the sender calls the scheduler, and we start on a cold core. Two
    /// peers on one machine need less than 50 µs between two requests.
    private static let spinDuration: Int64 = 50_000

    /// Serves until nothing happens for 20 ms, then goes back to Dispatch.
    func run() {
        CurrentLoop.value = self
        defer { CurrentLoop.value = nil }
        var began = MonotonicClock.nanoseconds
        while true {
            // A turn that only looked whether something has come is no sign of quiet.
            let isBusy = !localJobs.isEmpty || !resumed.isEmpty
            let ready = wait(from: began)
            updateTime()
            resumeConnections()
            if ready > 0 { handle(Int(ready)) }
            for entry in wheel.turn(to: now) { expire(entry) }
            runDelayed()
            runJobs()
            flush()
            // One look at the clock for the length of this turn and for the wait that follows.
            began = MonotonicClock.nanoseconds
            observer?.finishedTurn(loop: number, nanoseconds: began - nanoseconds)
            if ready <= 0, !isBusy, localJobs.isEmpty, resumed.isEmpty { break }
        }
        armTimer()
    }

    /// Waits for events; not at all while something else is to be done.
    ///
    /// After a wait that was short the next one is expected to be short, too, and begins with a look
    /// out; after a long one the loop sleeps at once, so that an idle loop costs nothing.
    private func wait(from began: Int64) -> Int32 {
        guard localJobs.isEmpty, resumed.isEmpty else { return poll(for: 0) }
        if spinsBeforeWait {
            repeat {
                let ready = poll(for: 0)
                if ready != 0 { return ready }
                // Whoever else wants this core, our own database for one, goes first.
                sched_yield()
            } while MonotonicClock.nanoseconds - began < Self.spinDuration
        }
        let ready = poll(for: 20)
        // Waking up takes its own time, about as long again.
        spinsBeforeWait = MonotonicClock.nanoseconds - began < 2 * Self.spinDuration
        return ready
    }

    private func poll(for milliseconds: Int32) -> Int32 {
        unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)
    }

    private func updateTime() {
        nanoseconds = MonotonicClock.nanoseconds
        now = nanoseconds / 1_000_000
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        wallClock = UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec / 1_000_000)
        let second = Int64(time.tv_sec)
        if second != dateSecond {
            dateSecond = second
            dateLine = Array("Date: \(HTTPDate.format(second))\r\n".utf8)
            secureDateLine = dateLine + strictTransportLine
        }
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
            let descriptor = unsafe Int32(truncatingIfNeeded: event.data.u64)
            let generation = unsafe UInt32(truncatingIfNeeded: event.data.u64 >> 32)
            if generation != 0 {
                // An event of this batch may be older than the connection that now has the number.
                unsafe connection(descriptor, generation)?.ready(event.events)
            } else if descriptor == wakeDescriptor {
                var count: eventfd_t = 0
                _ = unsafe eventfd_read(wakeDescriptor, &count)
            } else if descriptor == timer {
                var expirations: UInt64 = 0
                _ = unsafe read(timer, &expirations, 8)
                timerIsArmedFor = 0
            } else {
                handler(of: descriptor)?.ready()
            }
        }
    }

    private func expire(_ entry: DeadlineWheel.Entry) {
        guard let connection = connection(entry.descriptor, entry.generation) else { return }
        if connection.deadline <= now {
            connection.wheelTime = .max
            connection.expire()
        } else if connection.wheelTime <= now {
            // The deadline has moved on; one that never comes needs no place in the wheel.
            connection.wheelTime = .max
            if connection.deadline < .max { schedule(connection) }
        }
    }

    private func flush() {
        while !queued.isEmpty {
            // Two lists take turns, so that neither is allocated anew.
            swap(&queued, &flushing)
            for connection in flushing { connection.turnEnds() }
            flushing.removeAll(keepingCapacity: true)
        }
    }

    /// Wakes the parked loop for the next deadline: idle connections cost no polling.
    private func armTimer() {
        guard let next = nextDeadline, next != timerIsArmedFor else { return }
        timerIsArmedFor = next
        var times = itimerspec()
        let ahead = max(next - now, 1)
        times.it_value.tv_sec = Int(ahead / 1000)
        times.it_value.tv_nsec = Int(ahead % 1000 * 1_000_000)
        _ = unsafe timerfd_settime(timer, 0, &times, nil)
    }
}

extension EventLoop {
    /// Something that waits for a time of its own: rare, so a plain list does.
    struct Delayed {
        /// Monotonic milliseconds.
        let time: Int64
        let work: () -> Void
    }

    /// Runs something on the loop later; called on the loop.
    ///
    /// By the loop's own timer and not by one of Dispatch, which opens a descriptor for its first one:
    /// a listener that waits because there are no descriptors would then wait for ever (H183).
    func after(_ milliseconds: Int64, _ work: @escaping () -> Void) {
        delayed.append(Delayed(time: MonotonicClock.milliseconds + milliseconds, work: work))
    }

    /// Runs what is due; it may ask for more.
    func runDelayed() {
        guard !delayed.isEmpty else { return }
        let due = delayed.filter { delayed in delayed.time <= now }
        guard !due.isEmpty else { return }
        delayed.removeAll { delayed in delayed.time <= now }
        for delayed in due { delayed.work() }
    }

    /// When the loop has to be awake next, in monotonic milliseconds; `nil` if nothing is awaited.
    var nextDeadline: Int64? {
        let first = delayed.lazy.map(\.time).min()
        guard let next = wheel.next else { return first }
        return first.map { first in min(first, next) } ?? next
    }
}

// The loop as an executor, and the way to it from other threads.
extension EventLoop {
    /// What other threads have handed over.
    struct Foreign {
        var jobs: [UnownedJob] = []
        var work: [@Sendable () -> Void] = []
        var isStopped = false

        var isEmpty: Bool { jobs.isEmpty && work.isEmpty }
    }

    /// Takes a job of a task that prefers this loop.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            localJobs.append(job)
        } else {
            hand { foreign in foreign.jobs.append(job) }
        }
    }

    /// The same as a serial executor's reference.
    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// True on this loop's queue.
    var isCurrent: Bool { CurrentLoop.value === self }

    /// Runs something on the loop: at once when called there, else in its next turn.
    func perform(_ work: @escaping @Sendable () -> Void) {
        if isCurrent {
            work()
        } else {
            hand { foreign in foreign.work.append(work) }
        }
    }

    private func hand(_ add: (inout Foreign) -> Void) {
        let (wasEmpty, isStopped) = foreign.withLock { foreign in
            let wasEmpty = foreign.isEmpty
            add(&foreign)
            return (wasEmpty, foreign.isStopped)
        }
        guard wasEmpty else { return }
        if isStopped {
            queue.async { @Sendable [self] in runRemainingWork() }
        } else {
            // `queue.async` would wait behind a run in progress; the eventfd ends its `epoll_wait`.
            eventfd_write(wakeDescriptor, 1)
        }
    }

    /// Runs what was waiting when the turn began, and a few rounds of what that adds: answers to
    /// pipelined requests that need no waiting leave together.
    func runJobs() {
        for _ in 0..<16 {
            let handed = takeForeign()
            guard !localJobs.isEmpty || !handed.isEmpty else { return }
            run(handed)
        }
    }

    /// Serves as a plain queue once the loop has stopped: a handler that outlived its connection
    /// still runs to its end.
    func runRemainingWork() {
        CurrentLoop.value = self
        defer { CurrentLoop.value = nil }
        while true {
            let handed = takeForeign()
            if localJobs.isEmpty, handed.isEmpty { return }
            run(handed)
        }
    }

    private func takeForeign() -> Foreign {
        foreign.withLock { foreign in
            guard !foreign.isEmpty else { return Foreign() }
            let taken = foreign
            foreign.jobs = []
            foreign.work = []
            return taken
        }
    }

    private func run(_ handed: Foreign) {
        let jobs = localJobs
        localJobs = []
        for work in handed.work { work() }
        for job in jobs { run(job) }
        for job in handed.jobs { run(job) }
    }

    private func run(_ job: UnownedJob) {
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
}

// Whose handshake makes room for another one (H168).
extension EventLoop {
    /// A handshake that has begun; it may be over by now.
    struct Handshake {
        let connection: DeadlineWheel.Entry
        /// Monotonic milliseconds.
        let begunAt: Int64
    }

    /// A handshake is safe from being ended for another one for so many milliseconds, which are enough for
    /// whoever means to finish it.
    private static let safety: Int64 = 1000

    /// Notes a connection whose handshake begins.
    func handshakeBegins(_ connection: Connection) {
        forgetHandshakes()
        handshakes.append(
            Handshake(
                connection: .init(
                    descriptor: connection.descriptor, generation: connection.generation),
                begunAt: now))
    }

    /// Ends the handshake that has been under way for longest: two addresses that say nothing could else
    /// keep everybody out.
    ///
    /// - Returns: False when all of them are young.
    func abortOldestHandshake() -> Bool {
        forgetHandshakes()
        guard let oldest = handshakes.first, now - oldest.begunAt >= Self.safety else {
            return false
        }
        connection(oldest.connection.descriptor, oldest.connection.generation)?.abort("handshake")
        return true
    }

    /// Forgets those at the front that are over.
    private func forgetHandshakes() {
        let over = handshakes.prefix { handshake in
            let entry = handshake.connection
            return connection(entry.descriptor, entry.generation)?.isShakingHands != true
        }
        handshakes.removeFirst(over.count)
    }
}

/// Which loop the calling thread is running, if any.
enum CurrentLoop {
    // A pthread key: Swift has no thread-local storage, and the loop wanders between the threads of
    // Dispatch. The pointer is unretained; a loop sets and clears it around its own run.
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
