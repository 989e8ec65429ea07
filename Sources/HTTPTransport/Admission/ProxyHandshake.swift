import CLinux
import Glibc
import HTTP

/// A connection whose PROXY header has not come yet (H202).
///
/// It reads exactly as many bytes as the header has, so whatever follows, TLS or a request, is found
/// in the socket by the connection itself. What is no header ends it without a word.
final class ProxyHandshake: EventHandler, @unchecked Sendable {
    // Sendable because it is only used on its loop.

    let deadline: Int64
    private let descriptor: Int32
    private let loop: EventLoop
    private let done: (PeerAddress?) -> Void
    private let dropped: () -> Void
    private var bytes: [UInt8] = []
    private(set) var isOver = false

    /// - Parameters:
    ///   - deadline: When the header must have come, in the loop's milliseconds.
    ///   - done: Takes the descriptor over; told of the client, or of nobody when the addresses of the
    ///     socket count.
    ///   - dropped: Told that the descriptor was closed instead.
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
            let count = unsafe linux_recv(descriptor, loop.readBuffer.baseAddress, missing, 0)
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                return drop()
            }
            // The buffer is the loop's and stays as it is until this turn ends.
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

    /// How many bytes the header still wants, as far as is known.
    private var missing: Int {
        // Without checks of exclusive access no span may be lent by a variable of a class.
        let bytes = bytes
        return ProxyHeader.size(bytes.span) - bytes.count
    }

    private var outcome: ProxyHeader.Outcome {
        let bytes = bytes
        return ProxyHeader.read(bytes.span)
    }

    /// Ends it without an answer.
    func drop() {
        guard !isOver else { return }
        isOver = true
        loop.unwatch(descriptor)
        close(descriptor)
        dropped()
    }
}

/// Where the connections of one listener wait for their PROXY headers (H202).
///
/// All may wait equally long, so the first to come is the first to be overdue, and one timer does.
final class PendingProxyHandshakes: @unchecked Sendable {
    // Sendable because it is only used on its loop.
    private let loop: EventLoop
    private var greetings: [ProxyHandshake] = []
    private var isTimed = false

    init(_ loop: EventLoop) { self.loop = loop }

    func add(_ greeting: ProxyHandshake) {
        greetings.append(greeting)
        greeting.open()
        watchTime()
    }

    /// What has come already is looked at once more, then nobody waits any longer (H194).
    func close() {
        for greeting in greetings {
            greeting.ready()
            greeting.drop()
        }
        greetings = []
    }

    private func watchTime() {
        guard !isTimed, let first = greetings.first else { return }
        isTimed = true
        loop.after(max(first.deadline - loop.now, 1)) { [self] in
            isTimed = false
            sweep()
        }
    }

    private func sweep() {
        let count = greetings.prefix { greeting in
            if greeting.deadline <= loop.now { greeting.drop() }
            return greeting.isOver
        }.count
        greetings.removeFirst(count)
        watchTime()
    }
}
