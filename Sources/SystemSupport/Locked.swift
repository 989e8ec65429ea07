import Glibc

/// A value protected by a mutex.
///
/// Used instead of `Synchronization.Mutex`, because the thread sanitizer does not understand its
/// futex and reports false races; it understands a pthread mutex. Hold it for a few instructions
/// only, never across a system call or an `await`.
@safe package final class Locked<Value>: Sendable {
    // Both are safe to share because `withLock` is the only access: the value was passed as `sending`, so
    // nothing outside refers to it, and results are `sending` too. The address of the mutex does
    // not change between `init` and `deinit`, as POSIX requires.
    nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    nonisolated(unsafe) private var value: Value

    /// Takes ownership of a value.
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

    /// Runs `body` with exclusive access to the value. Not reentrant: a nested call deadlocks.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&value)
    }
}
