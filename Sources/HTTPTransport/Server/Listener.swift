import CLinux
import Glibc
import HTTP
import SystemSupport

/// A listening socket on one loop.
final class Listener: EventHandler, @unchecked Sendable {
    // Sendable because it is only used on its loop.

    private let descriptor: Int32
    private let isTCP: Bool
    /// The way in, where TLS is spoken.
    private let door: TLSAcceptor?
    private let server: ServerCore
    private let loop: EventLoop
    private let entrance: PendingProxyHandshakes
    private var isPaused = false
    private var isClosed = false
    /// Doubles from 5 ms to 1 s while the process has no descriptors left (H183).
    private var backOff: Int64 = 5
    /// Given up while the process has no descriptors left, to close one connection instead of letting
    /// its peer wait for nothing (H183).
    private var reserve: Int32

    init(
        descriptor: Int32, isTCP: Bool, door: TLSAcceptor?, server: ServerCore, loop: EventLoop
    ) {
        self.descriptor = descriptor
        self.isTCP = isTCP
        self.door = door
        self.server = server
        self.loop = loop
        entrance = PendingProxyHandshakes(loop)
        reserve = Self.spareDescriptor()
    }

    func open() { loop.watch(descriptor, self) }

    /// Accepts what is there, a bounded number per turn (H184).
    func ready() {
        for _ in 0..<64 {
            guard door?.allowsHandshake ?? true || loop.abortOldestHandshake() else {
                return pause(for: 20)
            }
            guard server.allowsConnection(loop.configuration) else {
                server.notice(.full)
                return pause(for: 20)
            }
            guard accept() else { return }
        }
    }

    /// - Returns: Whether another one may be waiting.
    private func accept() -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe accept4(
                descriptor,
                bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                &length, Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue))
        }
        guard accepted >= 0 else { return failed(SystemError("accept")) }
        guard DescriptorLimit.leavesReserve(above: accepted, for: .connection) else {
            Glibc.close(accepted)
            server.refused(.descriptors)
            return failed(SystemError("accept", code: EMFILE))
        }
        backOff = 5
        admit(accepted, from: isTCP ? SocketAddress.peer(storage) : .local)
        return true
    }

    private func failed(_ error: SystemError) -> Bool {
        switch error.code {
        case EAGAIN: return false
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            server.notice(.cannotAccept(error))
            if error.code == EMFILE || error.code == ENFILE { closeOne() }
            pause(for: backOff)
            backOff = min(backOff * 2, 1000)
            return false
        // EINTR, ECONNABORTED, EPROTO and the network's errors concern one peer only.
        default: return true
        }
    }

    /// Takes one connection by the descriptor in reserve, and ends it.
    private func closeOne() {
        guard reserve >= 0 else { return }
        Glibc.close(reserve)
        let accepted = accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        if accepted >= 0 {
            Glibc.close(accepted)
            server.refused(.descriptors)
        }
        // Somebody else may have been quicker; then it is tried again after the pause.
        reserve = Self.spareDescriptor()
    }

    /// Decides from the peer's address alone (H182, H202).
    private func admit(_ accepted: Int32, from peer: PeerAddress) {
        guard loop.configuration.proxyProtocol == .required else {
            return server.take(accepted, from: peer, on: loop, through: door)
        }
        guard loop.configuration.trust.includes(peer) else {
            Glibc.close(accepted)
            return server.refused(.untrusted)
        }
        server.connectionOpened()
        let deadline = loop.now + loop.configuration.headerTimeout
        entrance.add(
            ProxyHandshake(accepted, on: loop, deadline: deadline) { [server, loop, door] source in
                server.connectionClosed(nil)
                server.take(accepted, from: source ?? peer, on: loop, through: door)
            } dropped: { [server] in
                server.connectionClosed(nil)
            })
    }

    /// Lets new connections wait in the backlog for a while.
    private func pause(for milliseconds: Int64) {
        guard !isPaused, !isClosed else { return }
        isPaused = true
        loop.unwatch(descriptor)
        loop.after(milliseconds) { [self] in
            guard isPaused, !isClosed else { return }
            isPaused = false
            if reserve < 0 { reserve = Self.spareDescriptor() }
            loop.watch(descriptor, self)
        }
    }

    /// Accepts what already waits in the backlog, then listens no more (H194).
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if !isPaused { loop.unwatch(descriptor) }
        while server.allowsConnection(loop.configuration), accept() {}
        entrance.close()
        discard()
    }

    /// Gives a socket back that was never opened.
    func discard() {
        isClosed = true
        Glibc.close(descriptor)
        if reserve >= 0 { Glibc.close(reserve) }
        reserve = -1
    }

    private static func spareDescriptor() -> Int32 {
        unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    }
}
