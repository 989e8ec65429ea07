import HTTP
import Synchronization

/// A handler made of closures; a missing one does nothing.
final class TestHandler: ByteChannelHandler, @unchecked Sendable {
    // Sendable because `channel` is only used on its loop.
    private var channel: (any ByteChannel)?
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
        stopping: @escaping @Sendable (any ByteChannel) -> Void = { channel in channel.finish() },
        closed: @escaping @Sendable () -> Void = {}
    ) {
        onOpened = opened
        onReceived = received
        onDeadline = deadline
        onDrained = drained
        onStopping = stopping
        onClosed = closed
    }

    func opened(_ channel: any ByteChannel) {
        self.channel = channel
        onOpened(channel)
    }

    func received(_ bytes: Span<UInt8>) {
        guard let channel else { return }
        onReceived(channel, bytes.withUnsafeBufferPointer { bytes in Array(bytes) })
    }

    func deadlinePassed() { if let channel { onDeadline(channel) } }
    func drained() { if let channel { onDrained(channel) } }
    func stopping() { if let channel { onStopping(channel) } }

    func closed() {
        channel = nil
        onClosed()
    }
}

/// Channels that a test uses from its own thread, open or closed.
final class TestChannels: Sendable {
    private let channels = Mutex<[any ByteChannel]>([])

    func add(_ channel: any ByteChannel) {
        channels.withLock { channels in channels.append(channel) }
    }
    func forget() { channels.withLock { channels in channels = [] } }

    /// Runs `work` for each channel on its loop.
    func each(_ work: @escaping @Sendable (any ByteChannel) -> Void) {
        for channel in channels.withLock({ channels in channels }) {
            channel.perform { work(channel) }
        }
    }
}
