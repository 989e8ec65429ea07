import Dispatch
import SystemSupport

/// A fixed number of connections that only read, each with its own thread; jobs are run in order of arrival.
final class ReaderPool: Sendable {
    private let readers: [Reader]
    private let state: Locked<State>

    private struct Reader {
        let queue: DispatchQueue
        let connection: Locked<any Connection>
    }

    private struct State {
        var waiting: [Job] = []
        /// Indices of readers without a job.
        var idle: [Int]
        var isClosed = false
    }

    /// A read that a caller waits for.
    struct Job: Sendable {
        let run: @Sendable (any Connection) -> Void
        /// Called instead of `run` when the pool is closed.
        let reject: @Sendable () -> Void
    }

    /// Opens `count` connections, at least one.
    init(count: Int, open: () throws(SQLError) -> sending any Connection) throws(SQLError) {
        var readers: [Reader] = []
        for number in 0..<max(count, 1) {
            readers.append(
                Reader(
                    queue: DispatchQueue(label: "sql.reader.\(number)"),
                    connection: Locked(try open())))
        }
        self.readers = readers
        state = Locked(State(idle: Array(readers.indices)))
    }

    /// Readers with a job.
    var busy: Int { readers.count - state.withLock { $0.idle.count } }

    /// Jobs that wait for a reader.
    var waiting: Int { state.withLock { $0.waiting.count } }

    func enqueue(_ job: Job) {
        enum Placement { case reader(Int), queued, rejected }
        let placement = state.withLock { state -> Placement in
            guard !state.isClosed else { return .rejected }
            if let reader = state.idle.popLast() { return .reader(reader) }
            state.waiting.append(job)
            return .queued
        }
        switch placement {
        case .reader(let reader): readers[reader].queue.async { self.run(job, on: reader) }
        case .queued: break
        case .rejected: job.reject()
        }
    }

    /// Runs the queued jobs, closes the connections, and rejects later jobs.
    func close() {
        state.withLock { $0.isClosed = true }
        for reader in readers {
            reader.queue.sync { reader.connection.withLock { $0.close() } }
        }
    }

    private func run(_ first: Job, on reader: Int) {
        var job: Job? = first
        while let current = job {
            readers[reader].connection.withLock { connection in current.run(connection) }
            job = next(for: reader)
        }
    }

    private func next(for reader: Int) -> Job? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.idle.append(reader)
            return nil
        }
    }
}
