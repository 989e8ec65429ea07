import Dispatch

/// One thread for work that waits for the disk or keeps a core busy, in the order it was asked for.
///
/// Such work never runs on a loop or on Swift's own pool: both have one thread a core, and one slow
/// sync would stop every connection. A queue without work has no thread.
package struct WorkQueue: Sendable {
    private let queue: DispatchQueue

    /// Makes a queue of its own.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs blocking work and waits for its result without holding a thread of the caller's.
    ///
    /// Work already handed in is never cancelled: half a write would be worse than a late one.
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
    /// One piece of work on a lent value; it may wait for the disk and is never cancelled.
    package typealias Work<Value> = @Sendable (inout Value) -> Void

    /// Has work done on a value, after what was handed in before, and does not wait for it.
    ///
    /// - Parameter first: Work on another queue before that; loans of the same two queues stay in
    ///   order.
    package func handOff<Value: Sendable>(
        _ value: Value, first: (queue: WorkQueue, work: Work<Value>)? = nil,
        to work: @escaping Work<Value>
    ) -> BufferHandoff<Value> {
        let loan = BufferHandoff(value)
        let last: @Sendable () -> Void = {
            loan.work(work)
            loan.end()
        }
        guard let first else {
            enqueue(last)
            return loan
        }
        first.queue.enqueue { [first, self] in
            loan.work(first.work)
            enqueue(last)
        }
        return loan
    }
}

/// A value that queues work on, and that comes back to whoever lent it.
///
/// It is moved there and back: nobody else holds it meanwhile, so a buffer in it is changed in place,
/// and copied neither there nor afterwards here.
package final class BufferHandoff<Value: Sendable>: Sendable {
    private enum Way {
        case away
        case awaited(CheckedContinuation<Void, Never>)
        case back
    }

    private let value: Locked<Value?>
    private let way = Locked(Way.away)

    init(_ value: Value) { self.value = Locked(value) }

    /// The value as the last queue left it; asked for once. Waits until it is back.
    package func waitForValue() async -> Value {
        await withCheckedContinuation { continuation in
            let isBack = way.withLock { way in
                if case .back = way { return true }
                way = .awaited(continuation)
                return false
            }
            if isBack { continuation.resume() }
        }
        guard let value = value.withLock({ value in value.take() }) else {
            preconditionFailure("a loan is taken back once")
        }
        return value
    }

    /// Lets a queue change the value.
    func work(_ work: (inout Value) -> Void) {
        guard var taken = value.withLock({ value in value.take() }) else { return }
        work(&taken)
        put(back: taken)
    }

    private func put(back taken: Value) { value.withLock { value in value = taken } }

    /// Tells whoever waits that nobody works on the value any more.
    func end() {
        let waiting: CheckedContinuation<Void, Never>? = way.withLock { way in
            defer { way = .back }
            if case .awaited(let waiting) = way { return waiting }
            return nil
        }
        waiting?.resume()
    }
}

/// One thread for an actor whose steps wait for the disk or keep a core busy, as ``WorkQueue`` is for
/// single pieces of work: such an actor may own what is not to be shared between threads.
///
/// `DispatchSerialQueue`, which is one already, does not exist on Linux.
package final class WorkExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Makes a thread of its own; without work there is none.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs a step of the actor after those before it.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The runtime hands every job over once, and runs it once here.
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
