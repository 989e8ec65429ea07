/// Reads request heads, octet by octet, from any split of the input (H3).
///
/// A pure state machine: it is shown the octets of a head from their beginning, goes on where it
/// stopped, and never looks at an octet twice. A refusal is final: nothing more is read as a request
/// from that connection (H6).
public struct RequestParser: Sendable {
    /// What became of the octets so far.
    public enum Outcome: Sendable {
        /// More octets are needed.
        case incomplete
        /// A head; it took so many octets, the next one is the first of the body.
        case head(RequestHead, count: Int)
        /// The head is malformed or too large: answer once, then close (H7).
        case refused(Refusal)
    }

    enum State: UInt8 {
        case start, emptyLine, method, target, version, requestLineEnd
        case lineStart, name, blanks, value, lineEnd, sectionEnd
    }

    let limits: HeadLimits
    var state = State.start
    /// The next octet to be looked at.
    var cursor = 0
    var skipsEmptyLine = true
    /// Where the part in progress begins: the method, the target, or a field line.
    var mark = 0
    var methodRange = 0..<0
    var targetRange = 0..<0
    var versionStart = 0
    var sectionStart = 0
    var line = Fields.Line(nameStart: 0, nameCount: 0, valueStart: 0, valueCount: 0)
    var lines: [Fields.Line] = []
    /// Where heads of ordinary size are copied to; empty while none was complete.
    private var storage: [UInt8] = []

    /// A parser at the beginning of a head.
    public init(limits: HeadLimits = HeadLimits()) {
        self.limits = limits
        lines.reserveCapacity(16)
    }

    /// Whether an octet of a head has been seen, the empty line before it included.
    public var hasBegun: Bool { cursor > 0 }

    /// Back to the beginning of a head, with the storage kept.
    public mutating func reset() {
        state = .start
        cursor = 0
        skipsEmptyLine = true
        lines.removeAll(keepingCapacity: true)
    }

    /// Goes on with a head.
    ///
    /// - Parameter octets: All octets from the beginning of the head, those seen before included.
    public mutating func parse(_ octets: Span<UInt8>) -> Outcome {
        do throws(Refusal) {
            guard let count = try scan(octets) else {
                // Who waits for the rest of a head holds no more than must be.
                storage = []
                return .incomplete
            }
            let reader = RequestHeadReader(
                method: methodRange, target: targetRange, versionStart: versionStart)
            let kept = keep(octets, count)
            return .head(
                try reader.read(octets, lines, copy: kept, allowedHosts: limits.allowedHosts),
                count: count)
        } catch {
            return .refused(error)
        }
    }

    /// The octets of a head, for whoever reads its fields; of what stands behind them nothing is said.
    ///
    /// One storage serves all heads that fit in: whoever still holds the last one keeps it, because an
    /// array that is shared is copied before it is written to.
    private mutating func keep(_ octets: Span<UInt8>, _ count: Int) -> [UInt8] {
        if count > 512 { return octets.array(0..<count) }
        if storage.isEmpty { storage = [UInt8](repeating: 0, count: 512) }
        let head = octets.extracting(..<count)
        unsafe storage.withUnsafeMutableBytes { storage in
            unsafe head.withUnsafeBytes { head in unsafe storage.copyMemory(from: head) }
        }
        return storage
    }
}
