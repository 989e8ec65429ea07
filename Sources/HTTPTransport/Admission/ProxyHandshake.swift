import CLinux
import Glibc
import HTTP

/// A connection whose PROXY header is being read (H202).
///
/// It reads exactly the bytes of the header, so TLS or the request that follows is still in the socket. A
/// connection with an invalid header is closed without a response.
final class ProxyHandshake: EventHandler, @unchecked Sendable {
    // Sendable because it is used only on its loop.

    fileprivate let deadline: Int64
    private let descriptor: Int32
    private let loop: EventLoop
    private let done: (PeerAddress?) -> Void
    private let dropped: () -> Void
    private var bytes: [UInt8] = []
    fileprivate var isOver = false

    /// Creates the reader of a header.
    ///
    /// - Parameters:
    ///   - deadline: The time limit for the header, in the loop's milliseconds.
    ///   - done: Takes over the descriptor; gets the client's address, or `nil` when the addresses of the
    ///     socket are the right ones.
    ///   - dropped: Called instead when the descriptor was closed.
    init(
        _ descriptor: Int32, on loop: EventLoop, deadline: Int64,
        done: @escaping (PeerAddress?) -> Void, dropped: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.deadline = deadline
        self.done = done
        self.dropped = dropped
    }

    func open() { loop.watch(descriptor, self) }

    func ready() {
        while !isOver {
            // The loop's buffer is larger than a PROXY header, and the kernel writes at most `missing` bytes.
            let count = unsafe linux_recv(descriptor, loop.readBuffer.baseAddress, missing, 0)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                return drop()
            }
            // Safe: the buffer belongs to the loop and does not change during this turn.
            unsafe bytes.append(contentsOf: loop.readBuffer[..<count])
            switch outcome {
            case .incomplete: continue
            case .invalid: drop()
            case .complete(_, let source):
                isOver = true
                loop.unwatch(descriptor)
                done(source)
            }
        }
    }

    /// The number of bytes of the header that are still missing, as far as is known.
    private var missing: Int {
        // Copied, because a span of a class property needs run-time exclusivity checks, which the build turns off.
        let bytes = bytes
        return ProxyHeader.size(bytes.span) - bytes.count
    }

    private var outcome: ProxyHeader.Outcome {
        let bytes = bytes
        return ProxyHeader.read(bytes.span)
    }

    /// Closes the connection without a response.
    func drop() {
        guard !isOver else { return }
        isOver = true
        loop.unwatch(descriptor)
        close(descriptor)
        dropped()
    }
}

/// The connections of a listener that wait for their PROXY headers (H202).
///
/// All have the same time limit, so they expire in order, and one timer is enough.
final class PendingProxyHandshakes: @unchecked Sendable {
    // Sendable because it is used only on its loop.
    private let loop: EventLoop
    private var handshakes: [ProxyHandshake] = []
    private var hasTimer = false

    init(_ loop: EventLoop) { self.loop = loop }

    func add(_ handshake: ProxyHandshake) {
        handshakes.append(handshake)
        handshake.open()
        startTimer()
    }

    /// Reads what has been received, then closes the connections that still wait (H194).
    func close() {
        for handshake in handshakes {
            handshake.ready()
            handshake.drop()
        }
        handshakes = []
    }

    private func startTimer() {
        guard !hasTimer, let first = handshakes.first else { return }
        hasTimer = true
        loop.after(max(first.deadline - loop.now, 1)) { [self] in
            hasTimer = false
            removeOverdue()
        }
    }

    private func removeOverdue() {
        let count = handshakes.prefix { handshake in
            if handshake.deadline <= loop.now { handshake.drop() }
            return handshake.isOver
        }.count
        handshakes.removeFirst(count)
        startTimer()
    }
}
