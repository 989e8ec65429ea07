/// Parses the markup inside of a paragraph, a heading or a cell.
struct InlineParser {
    private typealias Inline = MarkdownDocument.Inline

    private let text: [Character]
    private let line: Int
    /// The parts inside of emphasis and links; a deeper one stays text.
    private static let maximumDepth = 8

    /// Parses a text.
    ///
    /// - Parameter line: The number of its first line, for errors.
    static func parse(_ text: String, line: Int) throws(MarkdownError) -> [MarkdownDocument.Inline]
    {
        let parser = InlineParser(text: Array(text), line: line)
        return try parser.inlines(0..<parser.text.count, depth: 0)
    }

    private func inlines(_ range: Range<Int>, depth: Int) throws(MarkdownError) -> [Inline] {
        var found: [Inline] = []
        var plain = ""
        var index = range.lowerBound
        while index < range.upperBound {
            if let (inline, end) = try inline(at: index, range, depth) {
                if !plain.isEmpty { found.append(.text(plain)) }
                plain = ""
                found.append(inline)
                index = end
            } else if text[index] == "\\", index + 1 < range.upperBound,
                Self.isPunctuation(text[index + 1])
            {
                plain.append(text[index + 1])
                index += 2
            } else {
                plain.append(text[index])
                index += 1
            }
        }
        if !plain.isEmpty { found.append(.text(plain)) }
        return found
    }

    private static func isPunctuation(_ character: Character) -> Bool {
        character.isASCII && (character.isPunctuation || character.isSymbol)
    }

    /// The markup that begins at an index, and where it ends; `nil` for text.
    private func inline(
        at index: Int, _ range: Range<Int>, _ depth: Int
    ) throws(MarkdownError) -> (Inline, Int)? {
        switch text[index] {
        case "`": return code(at: index, range)
        case "<": return try angle(at: index, range)
        case "!" where index + 1 < range.upperBound && text[index + 1] == "[":
            guard let (label, target, end) = bracket(at: index + 1, range) else { return nil }
            return (.image(alternative: String(text[label]), source: target), end)
        case "[":
            guard depth < Self.maximumDepth, let (label, target, end) = bracket(at: index, range)
            else { return nil }
            return (.link(try inlines(label, depth: depth + 1), target: target), end)
        case "*", "_": return try emphasis(at: index, range, depth)
        case "\\" where index + 1 < range.upperBound && text[index + 1] == "\n":
            return (.lineBreak, index + 2)
        case " ":
            let blanks = text[index..<range.upperBound].prefix { $0 == " " }.count
            let end = index + blanks
            guard blanks >= 2, end < range.upperBound, text[end] == "\n" else { return nil }
            return (.lineBreak, end + 1)
        default: return nil
        }
    }

    /// A code span; two backticks are also a DocC symbol, which is shown as code.
    private func code(at index: Int, _ range: Range<Int>) -> (Inline, Int)? {
        guard let end = endOfCode(at: index, range.upperBound) else { return nil }
        let count = text[index...].prefix { $0 == "`" }.count
        var inner = text[(index + count)..<(end - count)].map { $0 == "\n" ? " " : $0 }
        if inner.count > 2, inner.first == " ", inner.last == " " {
            inner = Array(inner.dropFirst().dropLast())
        }
        return (.code(String(inner)), end)
    }

    /// The index after a code span: its closing backticks are as many as its opening ones.
    private func endOfCode(at index: Int, _ limit: Int) -> Int? {
        let count = text[index..<limit].prefix { $0 == "`" }.count
        var next = index + count
        while next < limit {
            guard text[next] == "`" else {
                next += 1
                continue
            }
            let closing = text[next..<limit].prefix { $0 == "`" }.count
            next += closing
            if closing == count { return next }
        }
        return nil
    }

    /// `<doc:Name#anchor>` and `<https://…>`; other tags are raw HTML, an error.
    private func angle(at index: Int, _ range: Range<Int>) throws(MarkdownError) -> (Inline, Int)? {
        let rest = text[(index + 1)..<range.upperBound]
        guard let first = rest.first, first.isLetter || first == "/" || first == "!" else {
            return nil
        }
        guard let close = rest.firstIndex(of: ">") else { return nil }
        let inner = String(text[(index + 1)..<close])
        if inner.hasPrefix("doc:") {
            let parts = inner.dropFirst(4).split(separator: "#", maxSplits: 1).map(String.init)
            if let name = parts.first {
                return (.article(name: name, anchor: parts.count > 1 ? parts[1] : nil), close + 1)
            }
        } else if inner.hasPrefix("https://") || inner.hasPrefix("http://") {
            return (.link([.text(inner)], target: inner), close + 1)
        }
        throw MarkdownError(line: line, reason: "raw HTML is not supported: <\(inner)>")
    }

    /// `[label](target)`.
    private func bracket(
        at index: Int, _ range: Range<Int>
    ) -> (label: Range<Int>, target: String, end: Int)? {
        var depth = 0
        var next = index
        while next < range.upperBound {
            switch text[next] {
            case "\\": next += 1
            case "`": if let end = endOfCode(at: next, range.upperBound) { next = end - 1 }
            case "[": depth += 1
            case "]":
                depth -= 1
                guard depth == 0 else { break }
                let open = next + 1
                guard open < range.upperBound, text[open] == "(",
                    let close = text[open..<range.upperBound].firstIndex(of: ")")
                else { return nil }
                return ((index + 1)..<next, String(text[(open + 1)..<close]), close + 1)
            default: break
            }
            next += 1
        }
        return nil
    }

    private func emphasis(
        at index: Int, _ range: Range<Int>, _ depth: Int
    ) throws(MarkdownError) -> (Inline, Int)? {
        let mark = text[index]
        let count = min(2, text[index..<range.upperBound].prefix { $0 == mark }.count)
        let start = index + count
        guard depth < Self.maximumDepth, start < range.upperBound, !text[start].isWhitespace,
            mark == "*" || index == range.lowerBound || !Self.isWord(text[index - 1]),
            let close = closing(mark, count, from: start, range)
        else { return nil }
        let inner = try inlines(start..<close, depth: depth + 1)
        return (count == 2 ? .strong(inner) : .emphasis(inner), close + count)
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }

    /// The index of the marks that close an emphasis, outside of code.
    private func closing(
        _ mark: Character, _ count: Int, from start: Int, _ range: Range<Int>
    ) -> Int? {
        var next = start
        while next < range.upperBound {
            let character = text[next]
            if character == "\\" {
                next += 2
            } else if character == "`", let end = endOfCode(at: next, range.upperBound) {
                next = end
            } else if character == mark {
                let marks = text[next..<range.upperBound].prefix { $0 == mark }.count
                let end = next + marks
                let isFree =
                    mark == "*" || end == range.upperBound || !Self.isWord(text[end])
                if marks == count, next > start, !text[next - 1].isWhitespace, isFree {
                    return next
                }
                next = end
            } else {
                next += 1
            }
        }
        return nil
    }
}
