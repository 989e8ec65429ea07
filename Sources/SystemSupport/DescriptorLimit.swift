import CLinux
import Glibc

/// The limit of open file descriptors of this process, and a reserve below it that peers cannot use
/// up.
///
/// Dispatch reads `/proc` from time to time and ends the process when it cannot open a file (H183).
/// So code that opens a descriptor for a peer calls ``leavesReserve(above:for:)`` and fails as with
/// `EMFILE` when it returns false.
public enum DescriptorLimit {
    /// What a descriptor was opened for.
    public enum Use: Sendable {
        /// A connection. Leaves some descriptors free for files that connected clients request.
        case connection
        /// A file.
        case file

        /// How many descriptors must remain free.
        var reserve: UInt64 {
            switch self {
            case .connection: 16
            case .file: 8
            }
        }
    }

    /// Raises the soft limit to the hard limit and returns the limit that now applies (H181).
    public static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        // The structure lives through the calls.
        guard unsafe getrlimit(resource, &limit) == 0 else { return 1024 }
        let old = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // When raising fails, the old limit still applies.
        return Int(clamping: unsafe setrlimit(resource, &limit) == 0 ? limit.rlim_max : old)
    }

    /// Whether enough descriptors remain free above this one, which was the lowest free descriptor.
    ///
    /// Reads the limit at each call, because it can be lowered from outside the process.
    public static func leavesReserve(above descriptor: Int32, for use: Use) -> Bool {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        // The structure lives through the call.
        guard unsafe getrlimit(resource, &limit) == 0 else { return true }
        return UInt64(descriptor) + use.reserve < UInt64(limit.rlim_cur)
    }
}
