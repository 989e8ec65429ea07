import CLinux
import Glibc
import HTTP

// What happens in one turn of the loop.
extension EventLoop {
    /// How long a loop that expects more looks for it before it falls asleep, in nanoseconds.
    ///
    /// Being woken costs both sides: the sender calls the scheduler, and we start on a cold core. Two
    /// peers on one machine need less than 50 µs between two requests.
    private static let lookout: Int64 = 50_000

    /// Serves until nothing happens for 20 ms, then goes back to Dispatch.
    func run() {
        CurrentLoop.value = self
        defer { CurrentLoop.value = nil }
        var began = MonotonicClock.nanoseconds
        while true {
            // A turn that only looked whether something has come is no sign of quiet.
            let isBusy = !localJobs.isEmpty || !resumed.isEmpty
            let ready = wait(from: began)
            tellTime()
            resumeConnections()
            if ready > 0 { handle(Int(ready)) }
            for entry in wheel.turn(to: now) { expire(entry) }
            runDelayed()
            runJobs()
            flush()
            // One look at the clock for the length of this turn and for the wait that follows.
            began = MonotonicClock.nanoseconds
            observer?.turned(loop: number, nanoseconds: began - nanoseconds)
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
        if looksOut {
            repeat {
                let ready = poll(for: 0)
                if ready != 0 { return ready }
                // Whoever else wants this core, our own database for one, goes first.
                sched_yield()
            } while MonotonicClock.nanoseconds - began < Self.lookout
        }
        let ready = poll(for: 20)
        // Waking up takes its own time, about as long again.
        looksOut = MonotonicClock.nanoseconds - began < 2 * Self.lookout
        return ready
    }

    private func poll(for milliseconds: Int32) -> Int32 {
        unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)
    }

    private func tellTime() {
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
            } else if descriptor == wakeUp {
                var count: eventfd_t = 0
                _ = unsafe eventfd_read(wakeUp, &count)
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
