/// A handler whose octets are compressed on their way to the line, each piece so that the peer can
/// read it at once (H114, H116).
///
/// The pieces of a stream are small and leave one by one, so they are compressed where they are
/// sent, on the loop.
final class CompressedStream: LineHandler, @unchecked Sendable {
    // Sendable because, like every handler of a line, it is only called on the line's loop.
    private let handler: any LineHandler
    private let deflater: Deflater

    init(_ handler: any LineHandler, _ coding: ContentCoding) {
        self.handler = handler
        deflater = Deflater(coding)
    }

    func opened(_ line: any Line) { handler.opened(CompressedLine(line, deflater)) }
    func received(_ octets: Span<UInt8>) { handler.received(octets) }
    func deadlinePassed() { handler.deadlinePassed() }
    func drained() { handler.drained() }
    func stopping() { handler.stopping() }
    func closed() { handler.closed() }
}

/// The line as the handler sees it.
private final class CompressedLine: Line, @unchecked Sendable {
    // Sendable because everything but `perform` is called on the line's loop.
    private let line: any Line
    private let deflater: Deflater
    private var isFinished = false

    init(_ line: any Line, _ deflater: Deflater) {
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

    func send(_ octets: [UInt8]) {
        guard !isFinished, !octets.isEmpty else { return }
        line.send(deflater.compress(octets.span, .sync))
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
