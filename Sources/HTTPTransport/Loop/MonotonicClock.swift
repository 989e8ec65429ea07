import CLinux
import Glibc

/// The clock of all deadlines: jumps of the wall clock do not move it (H180).
enum MonotonicClock {
    /// Nanoseconds since some point in the past.
    static var nanoseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The same in milliseconds.
    static var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
