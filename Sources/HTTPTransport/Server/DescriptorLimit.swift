import CLinux
import Glibc

/// The number of descriptors this process may have.
enum DescriptorLimit {
    /// Raises the soft limit to the hard one, and returns what holds then (H181).
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        let old = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // Where it may not be raised, the old limit goes on to hold.
        return Int(clamping: unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_max : old)
    }

    /// Whether the last few descriptors are still free when this one was the lowest free one.
    ///
    /// No peer may have those: Dispatch looks into `/proc` now and then, and where it cannot open a
    /// file it ends the process (H183). Asked anew each time, for the limit may be lowered from outside.
    static func leavesSome(behind descriptor: Int32) -> Bool {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return true }
        return UInt64(descriptor) + 8 < UInt64(limit.rlim_cur)
    }
}
