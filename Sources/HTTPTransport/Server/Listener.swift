import CLinux
import Glibc
import HTTP

/// A listening socket on one loop.
final class Listener: EventHandler, @unchecked Sendable {
    // Sendable because it is only used on its loop.

    private let descriptor: Int32
    private let isTCP: Bool
    /// The way in, where TLS is spoken.
    private let door: TLSDoor?
    private let server: ServerCore
    private let loop: EventLoop
    private var isPaused = false
    private var isClosed = false
    /// Doubles from 5 ms to 1 s while the process has no descriptors left (H183).
    private var backOff: Int64 = 5

    init(
        descriptor: Int32, isTCP: Bool, door: TLSDoor?, server: ServerCore, loop: EventLoop
    ) {
        self.descriptor = descriptor
        self.isTCP = isTCP
        self.door = door
        self.server = server
        self.loop = loop
    }

    func open() { loop.watch(descriptor, self) }

    /// Accepts what is there, a bounded number per turn (H184).
    func ready() {
        for _ in 0..<64 {
            guard server.admitsConnection, door?.admitsHandshake ?? true else {
                return pause(for: 20)
            }
            guard accept() else { return }
        }
    }

    /// - Returns: Whether another one may be waiting.
    private func accept() -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = unsafe withUnsafeMutableBytes(of: &storage) { octets in
            unsafe accept4(
                descriptor,
                octets.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                &length, Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue))
        }
        guard accepted >= 0 else {
            switch errno {
            case EAGAIN: return false
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                pause(for: backOff)
                backOff = min(backOff * 2, 1000)
                return false
            // EINTR, ECONNABORTED, EPROTO and the network's errors concern one peer only.
            default: return true
            }
        }
        backOff = 5
        server.take(
            accepted, from: isTCP ? SocketAddress.peer(storage) : .local, on: loop, through: door)
        return true
    }

    /// Lets new connections wait in the backlog for a while.
    private func pause(for milliseconds: Int64) {
        guard !isPaused, !isClosed else { return }
        isPaused = true
        loop.unwatch(descriptor)
        loop.after(milliseconds) { [self] in
            guard isPaused, !isClosed else { return }
            isPaused = false
            loop.watch(descriptor, self)
        }
    }

    /// Accepts what already waits in the backlog, then listens no more (H194).
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if !isPaused { loop.unwatch(descriptor) }
        while server.admitsConnection, accept() {}
        Glibc.close(descriptor)
    }

    /// Gives a socket back that was never opened.
    func discard() {
        isClosed = true
        Glibc.close(descriptor)
    }
}
