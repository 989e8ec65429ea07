import HTTP
import Synchronization

/// A handler made of closures; what is left out does nothing.
final class TestHandler: ByteChannelHandler, @unchecked Sendable {
    // Sendable because `line` is only used on its loop.
    private var line: (any ByteChannel)?
    private let onOpened: @Sendable (any ByteChannel) -> Void
    private let onReceived: @Sendable (any ByteChannel, [UInt8]) -> Void
    private let onDeadline: @Sendable (any ByteChannel) -> Void
    private let onDrained: @Sendable (any ByteChannel) -> Void
    private let onStopping: @Sendable (any ByteChannel) -> Void
    private let onClosed: @Sendable () -> Void

    init(
        opened: @escaping @Sendable (any ByteChannel) -> Void = { _ in },
        received: @escaping @Sendable (any ByteChannel, [UInt8]) -> Void = { _, _ in },
        deadline: @escaping @Sendable (any ByteChannel) -> Void = { _ in },
        drained: @escaping @Sendable (any ByteChannel) -> Void = { _ in },
        stopping: @escaping @Sendable (any ByteChannel) -> Void = { line in line.finish() },
        closed: @escaping @Sendable () -> Void = {}
    ) {
        onOpened = opened
        onReceived = received
        onDeadline = deadline
        onDrained = drained
        onStopping = stopping
        onClosed = closed
    }

    func opened(_ line: any ByteChannel) {
        self.line = line
        onOpened(line)
    }

    func received(_ bytes: Span<UInt8>) {
        guard let line else { return }
        onReceived(line, bytes.withUnsafeBufferPointer { bytes in Array(bytes) })
    }

    func deadlinePassed() { if let line { onDeadline(line) } }
    func drained() { if let line { onDrained(line) } }
    func stopping() { if let line { onStopping(line) } }

    func closed() {
        line = nil
        onClosed()
    }
}

/// Lines that a test reaches from its own thread, alive or not.
final class Lines: Sendable {
    private let lines = Mutex<[any ByteChannel]>([])

    func add(_ line: any ByteChannel) { lines.withLock { lines in lines.append(line) } }
    func forget() { lines.withLock { lines in lines = [] } }

    /// Does something with each of them, on its loop.
    func each(_ work: @escaping @Sendable (any ByteChannel) -> Void) {
        for line in lines.withLock({ lines in lines }) { line.perform { work(line) } }
    }
}
