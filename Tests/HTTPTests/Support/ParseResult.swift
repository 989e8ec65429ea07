import HTTP
import Testing

/// The result of parsing a head, in a form that can be compared and read.
enum ParseResult: Equatable {
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

    /// Passes a message to a parser in growing prefixes until it has a result.
    init(_ message: [UInt8], cuts: [Int], limits: HeadLimits = HeadLimits()) {
        var parser = RequestParser(limits: limits)
        for cut in cuts {
            let shown = message[..<cut]
            let result = ParseResult(parser.parse(shown.span))
            guard result == .incomplete else {
                self = result
                return
            }
        }
        self = .incomplete
    }

    /// The result for the whole message.
    init(_ message: [UInt8], limits: HeadLimits = HeadLimits()) {
        self.init(message, cuts: [message.count], limits: limits)
    }

    var head: HeadSummary? {
        if case .head(let head, _) = self { head } else { nil }
    }
}

/// Expects the same result however the message is split, and byte by byte (H3).
func expectSameResultForEverySplit(
    _ message: [UInt8], limits: HeadLimits = HeadLimits(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let whole = ParseResult(message, limits: limits)
    let byteByByte = ParseResult(message, cuts: Array(0...message.count), limits: limits)
    // Collected first, so that thousands of splits are one expectation.
    let differing = (0...message.count).filter { cut in
        ParseResult(message, cuts: [cut, message.count], limits: limits) != whole
    }
    #expect(byteByByte == whole, sourceLocation: sourceLocation)
    #expect(differing.isEmpty, sourceLocation: sourceLocation)
}

/// A message of a table, with the rule that applies to it.
struct HeadCase: Sendable, CustomTestStringConvertible {
    let rule: String
    let message: String
    let status: Int

    init(_ rule: String, _ message: String, _ status: Int = 400) {
        self.rule = rule
        self.message = message
        self.status = status
    }

    var testDescription: String { "\(rule): \(message.prefix(120).debugDescription)" }
}

/// Text as bytes: scalars below 256 become one byte, others their UTF-8, so that a case can contain
/// any byte and stay readable.
func utf8Bytes(_ text: String) -> [UInt8] {
    text.unicodeScalars.flatMap { scalar in
        scalar.value < 256 ? [UInt8(scalar.value)] : Array(String(scalar).utf8)
    }
}

/// A `GET /` with a Host and these field lines.
func get(_ lines: String...) -> String {
    (["GET / HTTP/1.1", "Host: h"] + lines).map { line in line + "\r\n" }.joined() + "\r\n"
}

/// A request with that first line and a Host.
func request(_ line: String) -> String { "\(line)\r\nHost: h\r\n\r\n" }
