import CLinux
import Glibc
import HTTP

/// The socket of a connection, with or without TLS: whether it may have bytes to read, and whether its peer reads
/// too slowly.
struct ConnectionSocket {
    let descriptor: Int32
    /// The TLS layer over the socket; `nil` without TLS, and after the sending side was shut down.
    private(set) var secure: SecureSocket?

    // Polling is edge-triggered: the kernel reports bytes once, and `canRead` stays set until an empty or short
    // read shows that the socket is empty.

    /// Whether the socket may have bytes to read.
    private(set) var canRead = false
    /// Whether the peer has shut down its sending side; the next empty read is the end of its input.
    private var peerIsClosing = false
    /// Set while the socket accepts no more output (H178).
    private var slowPeer: SlowPeerDetector?

    init(_ descriptor: Int32, _ secure: SecureSocket?) {
        self.descriptor = descriptor
        self.secure = secure
    }

    // MARK: Receiving

    /// Records the input that epoll has reported.
    mutating func inputReported(_ events: UInt32) {
        if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 {
            peerIsClosing = true
            canRead = true
            secure?.peerIsClosing = true
        }
        if events & EPOLLIN.rawValue != 0 { canRead = true }
        if canRead { secure?.mayHaveData = true }
    }

    /// Makes the next read call the kernel, which may have bytes that epoll has not reported yet.
    mutating func expectInput() {
        canRead = true
        secure?.mayHaveData = true
    }

    /// Records that the socket is empty until epoll reports more.
    mutating func markEmpty() { canRead = false }

    // The caller passes a buffer of that capacity, which lives through the call.

    /// Receives bytes from the socket or from TLS, with the meaning of `recv`.
    @inline(__always)
    mutating func receive(_ start: UnsafeMutableRawPointer?, _ capacity: Int) -> Int {
        guard let secure else {
            let count = unsafe linux_recv(descriptor, start, capacity, 0)
            // After a short read the socket is empty; epoll reports the next bytes.
            if count > 0, count < capacity, !peerIsClosing { canRead = false }
            return count
        }
        let count = unsafe secure.receive(start, capacity)
        if count > 0, secure.isDrained { canRead = false }
        return count
    }

    // MARK: TLS

    /// Whether the TLS handshake is in progress.
    var isHandshaking: Bool { secure?.isEstablished == false }

    /// The number of ciphertext bytes that the socket has not accepted.
    var unsentCount: Int64 { Int64(secure?.unsentCount ?? 0) }

    /// Whether there is unsent ciphertext.
    var hasUnsent: Bool { secure?.hasUnsent == true }

    /// Whether a request is for another host than the certificate that the TLS session uses (H38).
    func isMisdirected(_ fields: Fields) -> Bool {
        guard let secure, secure.choseCertificate, let host = fields["Host"] else { return false }
        let name = host.prefix { character in character != ":" }
        return !secure.isMeant(for: CertificateNames.folded(name))
    }

    /// Sends close_notify (H170). Bytes received from then on are discarded without decryption.
    ///
    /// - Returns: False while it waits for the socket.
    mutating func endTLS() -> Bool {
        guard let secure else { return true }
        secure.sendCloseNotify()
        guard !secure.hasUnsent else { return false }
        self.secure = nil
        canRead = true
        return true
    }

    /// Ends TLS without a message.
    mutating func dropTLS() { secure = nil }

    // MARK: Slow peers

    /// The time at which ``peerIsTooSlow(at:)`` must be called; `.max` for never.
    var slowPeerDeadline: Int64 { slowPeer?.deadline ?? .max }

    /// Records that the socket accepts no more output; the time limits for slow peers start.
    ///
    /// - Parameter sent: The number of bytes it accepted before.
    mutating func outputBlocked(
        sent: Int64, at now: Int64, _ configuration: ServerConfiguration
    ) {
        if let slowPeer {
            slowPeer.sent += sent
            if sent > 0 { slowPeer.update(unsent: Socket.unsentCount(descriptor), at: now) }
        } else {
            slowPeer = SlowPeerDetector(
                unsent: Socket.unsentCount(descriptor), at: now, configuration)
        }
    }

    /// Records that all output was sent.
    mutating func clearSlowPeer() { slowPeer = nil }

    /// Whether the peer reads too slowly, including what it has read until now.
    func peerIsTooSlow(at now: Int64) -> Bool {
        guard let slowPeer, slowPeer.deadline <= now else { return false }
        slowPeer.update(unsent: Socket.unsentCount(descriptor), at: now)
        return slowPeer.deadline <= now
    }

    // MARK: Ending

    /// Shuts down the sending side.
    func shutDown() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes the close a reset, without close_notify: an incomplete response must look incomplete (H170).
    mutating func resetOnClose() {
        secure = nil
        var reset = linger(l_onoff: 1, l_linger: 0)
        // If this fails, the connection is closed without a reset.
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the descriptor.
    func close() { Glibc.close(descriptor) }
}
