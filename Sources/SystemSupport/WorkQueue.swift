import Dispatch

/// A serial queue on its own thread for work that blocks on the disk or keeps a core busy.
///
/// Such work never runs on an event loop or on Swift's cooperative pool: both have one thread per
/// core, and one slow sync would stop every connection. A queue without work holds no thread.
package struct WorkQueue: Sendable {
    private let queue: DispatchQueue

    /// Makes a queue with its own label.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs blocking work and returns its result without blocking the caller's thread.
    ///
    /// Work that was enqueued is never cancelled, because a partial write would be worse than a
    /// late one.
    package func run<Result: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try outcome.get()
    }

    func enqueue(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

extension WorkQueue {
    /// Work on a value that was handed off; it may block and is never cancelled.
    package typealias Work<Value> = @Sendable (inout Value) -> Void

    /// Enqueues work that mutates a value, and returns at once.
    ///
    /// - Parameter first: Work on another queue to be done before. Handoffs over the same two
    ///   queues stay in order.
    package func handOff<Value: Sendable>(
        _ value: Value, first: (queue: WorkQueue, work: Work<Value>)? = nil,
        to work: @escaping Work<Value>
    ) -> BufferHandoff<Value> {
        let handoff = BufferHandoff(value)
        let last: @Sendable () -> Void = {
            handoff.perform(work)
            handoff.end()
        }
        guard let first else {
            enqueue(last)
            return handoff
        }
        first.queue.enqueue { [first, self] in
            handoff.perform(first.work)
            enqueue(last)
        }
        return handoff
    }
}

/// A value that was moved to a ``WorkQueue`` and is returned afterwards.
///
/// It has one owner at any time, so a buffer in it is mutated in place and never copied.
package final class BufferHandoff<Value: Sendable>: Sendable {
    private enum State {
        case working
        case awaited(CheckedContinuation<Void, Never>)
        case done
    }

    private let value: Locked<Value?>
    private let state = Locked(State.working)

    init(_ value: Value) { self.value = Locked(value) }

    /// Waits until the work is done and returns the value. May be called once.
    package func waitForValue() async -> Value {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if case .done = state { return true }
                state = .awaited(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
        guard let value = value.withLock({ value in value.take() }) else {
            preconditionFailure("the value of a handoff is taken once")
        }
        return value
    }

    /// Mutates the value on a queue.
    func perform(_ work: (inout Value) -> Void) {
        guard var taken = value.withLock({ value in value.take() }) else { return }
        work(&taken)
        putBack(taken)
    }

    private func putBack(_ taken: Value) { value.withLock { value in value = taken } }

    /// Marks the work as done and resumes the waiting caller.
    func end() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .done }
            if case .awaited(let waiting) = state { return waiting }
            return nil
        }
        waiting?.resume()
    }
}

/// A serial executor with its own thread for an actor whose steps block on the disk or keep a core
/// busy.
///
/// `DispatchSerialQueue`, which is such an executor, does not exist on Linux.
package final class WorkExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Makes an executor with its own label. Without work it holds no thread.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs a step of the actor after the steps before it.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The runtime hands over each job once, and it runs once here.
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// An executor with its own thread for a task whose steps block on the disk or keep a core busy, and for the functions that
/// it calls.
package final class WorkTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    /// Makes an executor with its own label. Without work it holds no thread.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs a step of the task after the steps before it.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The runtime hands over each job once, and it runs once here.
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
