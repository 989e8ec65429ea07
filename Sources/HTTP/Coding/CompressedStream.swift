/// A handler whose bytes are compressed on their way to the line, each piece so that the peer can
/// read it at once (H114, H116).
///
/// The pieces of a stream are small and leave one by one, so they are compressed where they are
/// sent, on the loop.
final class CompressedStream: ByteChannelHandler, @unchecked Sendable {
    // Sendable because, like every handler of a line, it is only called on the line's loop.
    private let handler: any ByteChannelHandler
    private let deflater: Deflater

    init(_ handler: any ByteChannelHandler, _ coding: ContentCoding) {
        self.handler = handler
        deflater = Deflater(coding)
    }

    func opened(_ line: any ByteChannel) { handler.opened(CompressedChannel(line, deflater)) }
    func received(_ bytes: Span<UInt8>) { handler.received(bytes) }
    func deadlinePassed() { handler.deadlinePassed() }
    func drained() { handler.drained() }
    func stopping() { handler.stopping() }
    func closed() { handler.closed() }
}

/// The line as the handler sees it.
private final class CompressedChannel: ByteChannel, @unchecked Sendable {
    // Sendable because everything but `perform` is called on the line's loop.
    private let line: any ByteChannel
    private let deflater: Deflater
    private var isFinished = false

    init(_ line: any ByteChannel, _ deflater: Deflater) {
        self.line = line
        self.deflater = deflater
    }

    var milliseconds: Int64 { line.milliseconds }
    var queuedCount: Int64 { line.queuedCount }
    var isFull: Bool { line.isFull }
    var isReading: Bool {
        get { line.isReading }
        set { line.isReading = newValue }
    }

    func send(_ bytes: [UInt8]) {
        guard !isFinished, !bytes.isEmpty else { return }
        line.send(deflater.compress(bytes.span, .sync))
    }

    func setDeadline(_ time: Int64) { line.setDeadline(time) }

    func finish() {
        guard !isFinished else { return }
        isFinished = true
        line.send(deflater.compress([UInt8]().span, .finish))
        line.finish()
    }

    func abort() { line.abort() }
    func perform(_ work: @escaping @Sendable () -> Void) { line.perform(work) }
}
