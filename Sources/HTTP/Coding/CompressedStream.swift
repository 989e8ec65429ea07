/// Compresses the content of a stream on its way to the channel and flushes after each piece, so
/// that the peer can read it at once (H114, H116).
///
/// The pieces are small, so they are compressed on the event loop.
final class CompressedStream: ByteChannelHandler, @unchecked Sendable {
    // Sendable because a channel's handler is called only on the channel's loop.
    private let handler: any ByteChannelHandler
    private let deflater: Deflater

    init(_ handler: any ByteChannelHandler, _ coding: ContentCoding) {
        self.handler = handler
        deflater = Deflater(coding)
    }

    func opened(_ channel: any ByteChannel) { handler.opened(CompressedChannel(channel, deflater)) }
    func received(_ bytes: Span<UInt8>) { handler.received(bytes) }
    func deadlinePassed() { handler.deadlinePassed() }
    func drained() { handler.drained() }
    func stopping() { handler.stopping() }
    func closed() { handler.closed() }
}

/// The channel that the wrapped handler writes to.
private final class CompressedChannel: ByteChannel, @unchecked Sendable {
    // Sendable because everything but `perform` is called on the channel's loop.
    private let channel: any ByteChannel
    private let deflater: Deflater
    private var isFinished = false

    init(_ channel: any ByteChannel, _ deflater: Deflater) {
        self.channel = channel
        self.deflater = deflater
    }

    var milliseconds: Int64 { channel.milliseconds }
    var queuedCount: Int64 { channel.queuedCount }
    var isFull: Bool { channel.isFull }
    var isReading: Bool {
        get { channel.isReading }
        set { channel.isReading = newValue }
    }

    func send(_ bytes: [UInt8]) {
        guard !isFinished, !bytes.isEmpty else { return }
        channel.send(deflater.compress(bytes.span, .sync))
    }

    func setDeadline(_ time: Int64) { channel.setDeadline(time) }

    func finish() {
        guard !isFinished else { return }
        isFinished = true
        channel.send(deflater.compress([UInt8]().span, .finish))
        channel.finish()
    }

    func abort() { channel.abort() }
    func perform(_ work: @escaping @Sendable () -> Void) { channel.perform(work) }
}
