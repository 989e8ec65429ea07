import CLinux
import Glibc

// C boundary: every argument of the system calls is a local value that lives through the call, with its own size.

/// Operations on the descriptor of a listening or connected socket.
enum Socket {
    /// Opens, binds and listens; the socket is non-blocking and close-on-exec (H190).
    ///
    /// - Parameter shares: Whether other sockets of this process listen on the same port, one per loop
    ///   (`SO_REUSEPORT`). Without it a port in use is an error, which reveals a second server; with it, the
    ///   second server would silently get half of the connections.
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

    /// Sets options that accepted sockets inherit: no delay for small responses (H87), and detection of dead
    /// peers by the kernel (H192).
    ///
    /// - Parameter writeTimeout: How long a peer may read nothing, in milliseconds. The kernel's own
    ///   limit must not be shorter.
    static func configureListening(_ descriptor: Int32, writeTimeout: Int64) {
        let tcp = Int32(IPPROTO_TCP)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(descriptor, tcp, TCP_KEEPIDLE, 60)
        set(descriptor, tcp, TCP_KEEPINTVL, 10)
        set(descriptor, tcp, TCP_KEEPCNT, 6)
        set(descriptor, tcp, TCP_USER_TIMEOUT, Int32(clamping: max(60_000, 2 * writeTimeout)))
        set(descriptor, tcp, TCP_NODELAY, 1)
    }

    /// The number of bytes in the kernel that the peer has not acknowledged.
    static func unsentCount(_ descriptor: Int32) -> Int64 {
        var count: Int32 = 0
        // If the kernel cannot report this, only bytes that the socket accepts count as progress.
        _ = unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count)
        return Int64(count)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // The options are improvements; nothing depends on the result.
        _ = unsafe setsockopt(
            descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Checks that a socket can listen on an address of this machine; an address in use is no error, because
    /// the server itself may be running.
    ///
    /// Nothing listens meanwhile, and no file is created or removed.
    static func check(_ address: ListenAddress) throws(SystemError) {
        if case .unix(let path) = address { return try checkPath(path) }
        let family = if case .ipv4 = address { AF_INET } else { AF_INET6 }
        let descriptor = socket(
            family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        defer { close(descriptor) }
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        let bound = unsafe SocketAddress.withKernelForm(address) { form, length in
            unsafe bind(descriptor, form, length)
        }
        guard bound == 0 || errno == EADDRINUSE else { throw SystemError("bind") }
    }

    private static func checkPath(_ path: String) throws(SystemError) {
        try requireSocketOrNothing(path)
        let folder = path.lastIndex(of: "/").map { end in String(path[..<end]) + "/" } ?? "."
        guard unsafe access(folder, W_OK | X_OK) == 0 else { throw SystemError("bind") }
    }

    /// Rejects a path of another file, which must not be removed.
    private static func requireSocketOrNothing(_ path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError("bind", code: ENOTSOCK)
        }
    }

    /// Removes a socket file without a listener, which a killed process has left.
    private static func removeStaleSocket(_ address: ListenAddress, _ path: String)
        throws(SystemError)
    {
        // Connecting to a file of another kind fails like connecting to a socket without a listener.
        try requireSocketOrNothing(path)
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

/// A failed system call: its name and the value of `errno`.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, such as `bind`.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Creates the error of the system call that just failed.
    init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The system's text for the reason, such as `Address already in use`.
    public var reason: String { unsafe String(cString: strerror(code)) }

    /// `binding an address failed: Address already in use`.
    public var description: String { "\(action) failed: \(reason)" }

    /// What was attempted, in words.
    private var action: String {
        switch call {
        case "accept": "accepting a connection"
        case "bind": "binding an address"
        case "connect": "connecting"
        case "epoll_create1", "eventfd", "timerfd_create": "creating an event loop"
        case "listen": "listening"
        case "open": "opening a file"
        case "recv": "receiving"
        case "send": "sending"
        case "socket": "opening a socket"
        default: call
        }
    }

    /// Whether the path of a Unix socket names something else.
    public var isNoSocket: Bool { code == ENOTSOCK }

    /// Whether another process listens on the address.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// Whether the user lacks the permission.
    public var isDenied: Bool { code == EACCES || code == EPERM }
}
