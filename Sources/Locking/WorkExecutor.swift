import Dispatch

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
