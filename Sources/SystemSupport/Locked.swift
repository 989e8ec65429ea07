import Glibc

/// A value that one thread at a time can touch.
///
/// `Synchronization.Mutex` does the same, but the thread sanitizer does not see through its futex and
/// reports races that are none; a pthread mutex it sees. Held for a few instructions only, never
/// across a system call or an `await`.
@safe package final class Locked<Value>: Sendable {
    // Both are safe to share because `withLock` is the only way in: the value came in `sending`, so
    // nobody outside keeps it, and what leaves is `sending` too. The address of the mutex stays the
    // same from `init` to `deinit`, as POSIX asks.
    nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    nonisolated(unsafe) private var value: Value

    /// Takes the value over.
    package init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe self.value = value
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` while no other thread is in one; it must not come here again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value)
    }
}
