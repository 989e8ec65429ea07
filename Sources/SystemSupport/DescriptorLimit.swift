import CLinux
import Glibc

/// The number of descriptors this process may have, and who may have the last ones.
///
/// Nobody outside gets those: Dispatch looks into `/proc` now and then, and where it cannot open a file
/// it ends the process (H183). What a peer can cause to be opened asks ``leavesReserve(above:for:)`` and
/// counts as refused by the system (`EMFILE`) where the answer is no.
public enum DescriptorLimit {
    /// What a descriptor was opened for.
    public enum Use: Sendable {
        /// A connection: a few are kept for the files that those who are served already ask for.
        case connection
        /// A file.
        case file

        /// How many descriptors must be free beside it.
        var reserve: UInt64 {
            switch self {
            case .connection: 16
            case .file: 8
            }
        }
    }

    /// Raises the soft limit to the hard one, and returns what holds then (H181).
    public static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        let old = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // Where it may not be raised, the old limit goes on to hold.
        return Int(clamping: unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_max : old)
    }

    /// Whether the reserve is still free when this one was the lowest free descriptor.
    ///
    /// The limit is asked for anew each time, for it may be lowered from outside.
    public static func leavesReserve(above descriptor: Int32, for use: Use) -> Bool {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return true }
        return UInt64(descriptor) + use.reserve < UInt64(limit.rlim_cur)
    }
}
