/// Work that a loop runs at a given time; there is little of it, so a list is enough.
struct DelayedWork {
    private struct Entry {
        /// Monotonic milliseconds.
        let time: Int64
        let work: () -> Void
    }

    private var entries: [Entry] = []

    /// Adds work for a time in monotonic milliseconds.
    mutating func add(at time: Int64, _ work: @escaping () -> Void) {
        entries.append(Entry(time: time, work: work))
    }

    /// Removes and returns the work that is due.
    mutating func takeDue(at now: Int64) -> [() -> Void] {
        guard !entries.isEmpty else { return [] }
        let due = entries.filter { entry in entry.time <= now }
        guard !due.isEmpty else { return [] }
        entries.removeAll { entry in entry.time <= now }
        return due.map(\.work)
    }

    mutating func removeAll() { entries = [] }

    /// The earliest time; `nil` without work.
    var next: Int64? { entries.lazy.map(\.time).min() }
}

/// Work that other threads hand over to a loop, in order.
struct ExternalWork {
    /// Jobs of tasks that run on the loop.
    private(set) var jobs: [UnownedJob] = []
    private(set) var work: [@Sendable () -> Void] = []
    /// Whether the loop has stopped.
    private(set) var isStopped = false

    var isEmpty: Bool { jobs.isEmpty && work.isEmpty }

    mutating func add(_ job: UnownedJob) { jobs.append(job) }

    mutating func add(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }

    mutating func stop() { isStopped = true }

    /// Removes and returns all work.
    mutating func takeAll() -> ExternalWork {
        guard !isEmpty else { return ExternalWork() }
        let taken = self
        jobs = []
        work = []
        return taken
    }
}
