import HTTP

/// Events that count up, for `/sse`.
final class CountedEvents: LineHandler, @unchecked Sendable {
    // Sendable because everything is used on the line's loop.
    private let limits: EchoLimits
    private var line: (any Line)?
    private var number = 0

    init(_ limits: EchoLimits) { self.limits = limits }

    func opened(_ line: any Line) {
        self.line = line
        line.send(Array(": counted events\n\n".utf8))
        line.setDeadline(line.milliseconds + limits.eventInterval)
    }

    func deadlinePassed() {
        guard let line else { return }
        // Whoever reads too slowly to keep up has no use for the rest (H156).
        guard line.queuedCount <= limits.eventQueue else { return line.abort() }
        number += 1
        line.send(Array("id: \(number)\ndata: \(number)\n\n".utf8))
        line.setDeadline(line.milliseconds + limits.eventInterval)
    }

    func stopping() { line?.finish() }

    func closed() { line = nil }
}
