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
