import HTTP

/// A handler made of closures; what is left out does nothing.
final class TestHandler: LineHandler, @unchecked Sendable {
    // Sendable because `line` is only used on its loop.
    private var line: (any Line)?
    private let onOpened: @Sendable (any Line) -> Void
    private let onReceived: @Sendable (any Line, [UInt8]) -> Void
    private let onDeadline: @Sendable (any Line) -> Void
    private let onDrained: @Sendable (any Line) -> Void
    private let onStopping: @Sendable (any Line) -> Void
    private let onClosed: @Sendable () -> Void

    init(
        opened: @escaping @Sendable (any Line) -> Void = { _ in },
        received: @escaping @Sendable (any Line, [UInt8]) -> Void = { _, _ in },
        deadline: @escaping @Sendable (any Line) -> Void = { _ in },
        drained: @escaping @Sendable (any Line) -> Void = { _ in },
        stopping: @escaping @Sendable (any Line) -> Void = { line in line.finish() },
        closed: @escaping @Sendable () -> Void = {}
    ) {
        onOpened = opened
        onReceived = received
        onDeadline = deadline
        onDrained = drained
        onStopping = stopping
        onClosed = closed
    }

    func opened(_ line: any Line) {
        self.line = line
        onOpened(line)
    }

    func received(_ octets: Span<UInt8>) {
        guard let line else { return }
        onReceived(line, octets.withUnsafeBufferPointer { octets in Array(octets) })
    }

    func deadlinePassed() { if let line { onDeadline(line) } }
    func drained() { if let line { onDrained(line) } }
    func stopping() { if let line { onStopping(line) } }

    func closed() {
        line = nil
        onClosed()
    }
}
