import CLinux
import Glibc

/// The few things done with a socket's descriptor.
enum Socket {
    /// Opens, binds and listens; non-blocking and close-on-exec (H190).
    ///
    /// - Parameter shares: Whether other sockets of this process listen on the same port, one per
    ///   loop. Without it a port that is taken is an error, which is how a second server is noticed:
    ///   with `SO_REUSEPORT` alone it would silently get half of the connections.
    static func listen(
        on address: ListenAddress, backlog: Int32, shares: Bool
    ) throws(SystemError) -> Int32 {
        let family: Int32
        switch address {
        case .ipv4: family = AF_INET
        case .ipv6: family = AF_INET6
        case .unix(let path):
            family = AF_UNIX
            try removeStaleSocket(address, path)
        }
        let flags =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, flags, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if shares { set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
        if family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        let bound = unsafe SocketAddress.withKernelForm(address) { form, length in
            unsafe bind(descriptor, form, length)
        }
        guard bound == 0 else { throw closing(descriptor, SystemError("bind")) }
        guard Glibc.listen(descriptor, backlog) == 0 else {
            throw closing(descriptor, SystemError("listen"))
        }
        return descriptor
    }

    /// No delay for small answers (H87), and a kernel that notices dead peers by itself (H192);
    /// accepted sockets inherit this from the listener.
    ///
    /// - Parameter patience: How long a peer may take nothing, in milliseconds; a full window that stays
    ///   full is dead to the kernel, too, and must not be so before the server has given up.
    static func configureListening(_ descriptor: Int32, patience: Int64) {
        let tcp = Int32(IPPROTO_TCP)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, tcp, TCP_KEEPIDLE, 60)
        set(descriptor, tcp, TCP_KEEPINTVL, 10)
        set(descriptor, tcp, TCP_KEEPCNT, 6)
        set(descriptor, tcp, TCP_USER_TIMEOUT, Int32(clamping: max(60_000, 2 * patience)))
        set(descriptor, tcp, TCP_NODELAY, 1)
    }

    /// How many bytes the kernel holds that the peer has not acknowledged.
    static func unsentCount(_ descriptor: Int32) -> Int64 {
        var count: Int32 = 0
        // Where the kernel cannot tell, nothing looks like progress but what the socket takes.
        _ = unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count)
        return Int64(count)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // A kernel without the option serves just as well; nothing depends on the answer.
        _ = unsafe setsockopt(
            descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// A socket file that nobody listens on is the rest of a process that was killed.
    private static func removeStaleSocket(_ address: ListenAddress, _ path: String)
        throws(SystemError)
    {
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw SystemError("socket") }
        let answered = unsafe SocketAddress.withKernelForm(address) { form, length in
            unsafe connect(probe, form, length)
        }
        let code = errno
        close(probe)
        if answered == 0 { throw SystemError("bind", code: EADDRINUSE) }
        if code == ECONNREFUSED { unsafe unlink(path) }
    }

    private static func closing(_ descriptor: Int32, _ error: SystemError) -> SystemError {
        close(descriptor)
        return error
    }
}

/// A system call that failed: its name and what `errno` said.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, such as `bind`.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Takes the error of the call that just failed.
    init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// Why it failed, in the system's words, such as `Address already in use`.
    public var reason: String { unsafe String(cString: strerror(code)) }

    /// `bind: Address already in use`.
    public var description: String { "\(call): \(reason)" }

    /// Another process listens there.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// This user may not do it.
    public var isDenied: Bool { code == EACCES || code == EPERM }
}
