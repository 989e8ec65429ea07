import HTTP
import Testing

/// What became of a head, in a form that can be compared and read.
enum Verdict: Equatable {
    case incomplete
    case refused(status: Int, rule: String)
    case head(HeadSummary, count: Int)

    init(_ outcome: RequestParser.Outcome) {
        switch outcome {
        case .incomplete: self = .incomplete
        case .refused(let refusal): self = .refused(status: refusal.status.code, rule: refusal.rule)
        case .head(let head, let count): self = .head(HeadSummary(head), count: count)
        }
    }

    /// Shows a parser a message, more of it with every cut, until it knows.
    init(_ message: [UInt8], cuts: [Int], limits: HeadLimits = HeadLimits()) {
        var parser = RequestParser(limits: limits)
        for cut in cuts {
            let shown = message[..<cut]
            let verdict = Verdict(parser.parse(shown.span))
            guard verdict == .incomplete else {
                self = verdict
                return
            }
        }
        self = .incomplete
    }

    /// The verdict on the message as a whole.
    init(_ message: [UInt8], limits: HeadLimits = HeadLimits()) {
        self.init(message, cuts: [message.count], limits: limits)
    }

    var head: HeadSummary? {
        if case .head(let head, _) = self { head } else { nil }
    }
}

/// H3: wherever the input is cut, and even octet by octet, the verdict is the same.
func expectSameVerdictForEverySplit(
    _ message: [UInt8], limits: HeadLimits = HeadLimits(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let whole = Verdict(message, limits: limits)
    let octetByOctet = Verdict(message, cuts: Array(0...message.count), limits: limits)
    // An outcome of its own, so that thousands of splits make one expectation.
    let differing = (0...message.count).filter { cut in
        Verdict(message, cuts: [cut, message.count], limits: limits) != whole
    }
    #expect(octetByOctet == whole, sourceLocation: sourceLocation)
    #expect(differing.isEmpty, sourceLocation: sourceLocation)
}
