import CLinux
import Glibc
import HTTP
import SystemSupport

/// A listening socket of an event loop.
final class Listener: EventHandler, @unchecked Sendable {
    // Sendable because it is used only on its loop.

    private let descriptor: Int32
    private let isTCP: Bool
    /// The TLS state; `nil` without TLS.
    private let acceptor: TLSAcceptor?
    private let server: ServerCore
    private let loop: EventLoop
    private let pendingHandshakes: PendingProxyHandshakes
    private var isPaused = false
    private var isClosed = false
    /// The pause while the process has no descriptors; it doubles from 5 ms to 1 s (H183).
    private var backOff: Int64 = 5
    /// A descriptor that is closed when the process has none left, to accept and close one connection so that
    /// its client does not wait (H183).
    private var reservedDescriptor: Int32

    init(
        descriptor: Int32, isTCP: Bool, acceptor: TLSAcceptor?, server: ServerCore, loop: EventLoop
    ) {
        self.descriptor = descriptor
        self.isTCP = isTCP
        self.acceptor = acceptor
        self.server = server
        self.loop = loop
        pendingHandshakes = PendingProxyHandshakes(loop)
        reservedDescriptor = Self.openReservedDescriptor()
    }

    func open() { loop.watch(descriptor, self) }

    /// Accepts waiting connections, a limited number per turn (H184).
    func ready() {
        for _ in 0..<64 {
            guard acceptor?.allowsHandshake ?? true || loop.abortOldestHandshake() else {
                return pause(for: 20)
            }
            guard server.allowsConnection(loop.configuration) else {
                server.notice(.full)
                return pause(for: 20)
            }
            guard accept() else { return }
        }
    }

    /// Accepts one connection.
    ///
    /// - Returns: Whether another one may be waiting.
    private func accept() -> Bool {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // The storage has the size that is passed, and lives through the call.
        let accepted = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe accept4(
                descriptor,
                bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self),
                &length, Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue))
        }
        guard accepted >= 0 else { return acceptFailed(SystemError("accept")) }
        guard DescriptorLimit.leavesReserve(above: accepted, for: .connection) else {
            Glibc.close(accepted)
            server.refused(.descriptors)
            return acceptFailed(SystemError("accept", code: EMFILE))
        }
        backOff = 5
        admit(accepted, from: isTCP ? SocketAddress.peer(storage) : .local)
        return true
    }

    private func acceptFailed(_ error: SystemError) -> Bool {
        switch error.code {
        case EAGAIN: return false
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            server.notice(.cannotAccept(error))
            if error.code == EMFILE || error.code == ENFILE { rejectOne() }
            pause(for: backOff)
            backOff = min(backOff * 2, 1000)
            return false
        // EINTR, ECONNABORTED, EPROTO and network errors concern only one peer.
        default: return true
        }
    }

    /// Accepts one connection with the reserved descriptor, and closes it.
    private func rejectOne() {
        guard reservedDescriptor >= 0 else { return }
        Glibc.close(reservedDescriptor)
        let accepted = accept4(descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        if accepted >= 0 {
            Glibc.close(accepted)
            server.refused(.descriptors)
        }
        // Another thread may have taken the descriptor; it is opened after the pause then.
        reservedDescriptor = Self.openReservedDescriptor()
    }

    /// Accepts or closes a connection by the address of its peer (H182, H202).
    private func admit(_ accepted: Int32, from peer: PeerAddress) {
        guard loop.configuration.proxyProtocol == .required else {
            return server.take(accepted, from: peer, on: loop, through: acceptor)
        }
        guard loop.configuration.trust.includes(peer) else {
            Glibc.close(accepted)
            return server.refused(.untrusted)
        }
        server.connectionOpened()
        let deadline = loop.now + loop.configuration.headerTimeout
        pendingHandshakes.add(
            ProxyHandshake(accepted, on: loop, deadline: deadline) {
                [server, loop, acceptor] source in
                server.connectionClosed(nil)
                server.take(accepted, from: source ?? peer, on: loop, through: acceptor)
            } dropped: { [server] in
                server.connectionClosed(nil)
            })
    }

    /// Stops accepting for a while; new connections wait in the backlog.
    private func pause(for milliseconds: Int64) {
        guard !isPaused, !isClosed else { return }
        isPaused = true
        loop.unwatch(descriptor)
        loop.after(milliseconds) { [self] in
            guard isPaused, !isClosed else { return }
            isPaused = false
            if reservedDescriptor < 0 { reservedDescriptor = Self.openReservedDescriptor() }
            loop.watch(descriptor, self)
        }
    }

    /// Accepts the connections in the backlog, then closes the socket (H194).
    func close() {
        guard !isClosed else { return }
        isClosed = true
        if !isPaused { loop.unwatch(descriptor) }
        while server.allowsConnection(loop.configuration), accept() {}
        pendingHandshakes.close()
        discard()
    }

    /// Closes the descriptors.
    func discard() {
        isClosed = true
        Glibc.close(descriptor)
        if reservedDescriptor >= 0 { Glibc.close(reservedDescriptor) }
        reservedDescriptor = -1
    }

    private static func openReservedDescriptor() -> Int32 {
        unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    }
}
