import HTTP

/// Collects the lines of an answer's head.
///
/// Heads of interim answers (1xx) come before it and are forgotten, and trailer fields come behind the
/// body.
struct HeadReader {
    /// How long a head may be, with all heads before it.
    static let longest = 64 << 10

    private var octets = 0
    private var status = 0
    private var fields: [(name: String, value: String)] = []
    private var hasEnded = false

    /// Takes a line with its end; returns the head when this was the empty line behind it.
    mutating func read(_ line: String) throws(HTTPClientError) -> AnswerHead? {
        guard !hasEnded else { return nil }
        octets += line.utf8.count
        guard octets <= Self.longest else {
            throw HTTPClientError(
                .tooLarge, "the head of the answer is longer than \(Self.longest) octets")
        }
        let line = line.trimmed()
        if line.hasPrefix("HTTP/"), status < 200 {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count >= 2, let code = Int(words[1]), (100...599).contains(code) else {
                throw HTTPClientError(.broken, "the answer has no status: \(line.prefix(100))")
            }
            status = code
            fields = []
        } else if line.isEmpty {
            guard status >= 200 else { return nil }
            hasEnded = true
            return AnswerHead(status: status, fields: Fields(fields))
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...]
            fields.append((String(line[..<colon]), String(value.trimmed())))
        }
        return nil
    }
}

extension StringProtocol {
    /// Without blanks, tabs, CR and LF at its ends.
    fileprivate func trimmed() -> SubSequence {
        let isBlank = { (scalar: Unicode.Scalar) in " \t\r\n".unicodeScalars.contains(scalar) }
        guard let first = unicodeScalars.firstIndex(where: { !isBlank($0) }),
            let last = unicodeScalars.lastIndex(where: { !isBlank($0) })
        else { return self[startIndex..<startIndex] }
        return self[first...last]
    }
}
