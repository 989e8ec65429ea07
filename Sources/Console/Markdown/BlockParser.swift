/// Parses the blocks of a document: a recursive descent over lines.
struct BlockParser {
    private typealias Block = MarkdownDocument.Block

    /// A line and its number from 1.
    private struct Line {
        let number: Int
        var text: Substring

        var isBlank: Bool { text.allSatisfy { $0 == " " } }
        var indentation: Int { text.prefix { $0 == " " }.count }
        /// The line without blanks at both ends.
        var content: Substring {
            var content = text.drop { $0 == " " }
            while content.last == " " { content.removeLast() }
            return content
        }

        /// The line without up to that many blanks at its start.
        func dropping(_ count: Int) -> Line {
            Line(number: number, text: text.dropFirst(min(count, indentation)))
        }
    }

    /// The start of an item of a list.
    private struct Marker {
        /// The number of an ordered item; `nil` for a bullet.
        let number: Int?
        /// The column where the text of the item begins.
        let width: Int
    }

    private let lines: [Line]
    /// How often each anchor has been asked for.
    private var anchors: [String: Int] = [:]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            Line(number: $0.offset + 1, text: $0.element)
        }
    }

    mutating func document() throws(MarkdownError) -> [MarkdownDocument.Block] {
        try blocks(lines, depth: 0)
    }

    /// Parses lines whose common indentation has been removed.
    ///
    /// - Parameter depth: The number of lists around them.
    private mutating func blocks(_ lines: [Line], depth: Int) throws(MarkdownError) -> [Block] {
        var blocks: [Block] = []
        var rest = lines[...]
        while let line = rest.first {
            let content = line.content
            if line.isBlank {
                rest.removeFirst()
            } else if content.hasPrefix("```") {
                blocks.append(try fence(&rest))
            } else if content.hasPrefix("<!--") {
                try skip(&rest, until: "-->")
            } else if content.hasPrefix("@Metadata") {
                try skip(&rest, until: "}")
            } else if content.first == "@", content.dropFirst().first?.isUppercase == true {
                throw MarkdownError(line: line.number, reason: "the directive is not supported")
            } else if content.first == "#" {
                blocks.append(try heading(&rest))
            } else if Self.isRule(content) {
                rest.removeFirst()
                blocks.append(.rule)
            } else if content.first == ">" {
                blocks.append(try quote(&rest, depth: depth))
            } else if content.first == "|" {
                blocks.append(try table(&rest))
            } else if Self.marker(of: line) != nil {
                blocks.append(try list(&rest, depth: depth + 1))
            } else if line.indentation >= 4 {
                throw MarkdownError(line: line.number, reason: "indented code is not supported")
            } else {
                blocks.append(try paragraph(&rest))
            }
        }
        return blocks
    }

    private static func isRule(_ content: Substring) -> Bool {
        content.count >= 3 && (content.allSatisfy { $0 == "-" } || content.allSatisfy { $0 == "*" })
    }

    /// Removes lines up to the one that contains an end.
    private func skip(_ rest: inout ArraySlice<Line>, until end: String) throws(MarkdownError) {
        let start = rest.first?.number ?? 0
        while let line = rest.popFirst() {
            if line.text.contains(end) { return }
        }
        throw MarkdownError(line: start, reason: "there is no \(end)")
    }

    private func fence(_ rest: inout ArraySlice<Line>) throws(MarkdownError) -> Block {
        let start = rest.removeFirst()
        let marks = start.content.prefix { $0 == "`" }
        var text: [Substring] = []
        while let line = rest.popFirst() {
            if line.content == marks {
                let code = text.map { "\($0)\n" }.joined()
                return .code(
                    language: String(start.content.dropFirst(marks.count)), text: code)
            }
            text.append(line.dropping(start.indentation).text)
        }
        throw MarkdownError(line: start.number, reason: "the code has no end")
    }

    private mutating func heading(_ rest: inout ArraySlice<Line>) throws(MarkdownError) -> Block {
        let line = rest.removeFirst()
        let level = line.content.prefix { $0 == "#" }.count
        let text = line.content.dropFirst(level)
        guard (1...4).contains(level), text.first == " " else {
            throw MarkdownError(
                line: line.number, reason: "a heading has one to four # and a blank")
        }
        let inlines = try InlineParser.parse(String(text.dropFirst()), line: line.number)
        return .heading(level: level, inlines, anchor: anchor(of: inlines.plainText))
    }

    /// Lower case, with hyphens for blanks and without other punctuation; a repeated one gets a number.
    private mutating func anchor(of title: String) -> String {
        var anchor = ""
        for character in title.lowercased() {
            if character.isLetter || character.isNumber || character == "_" || character == "-" {
                anchor.append(character)
            } else if character == " " {
                anchor.append("-")
            }
        }
        let count = anchors[anchor, default: 0]
        anchors[anchor] = count + 1
        return count == 0 ? anchor : "\(anchor)-\(count)"
    }

    private mutating func quote(
        _ rest: inout ArraySlice<Line>, depth: Int
    ) throws(MarkdownError) -> Block {
        var inner: [Line] = []
        while let line = rest.first, line.content.first == ">" {
            rest.removeFirst()
            let text = line.content.dropFirst()
            inner.append(
                Line(number: line.number, text: text.first == " " ? text.dropFirst() : text))
        }
        for kind in ["Note", "Important", "Tip", "Warning"] {
            guard let first = inner.first, first.text.hasPrefix("\(kind):") else { continue }
            let text = first.text.dropFirst(kind.count + 1).drop { $0 == " " }
            inner[0] = Line(number: first.number, text: text)
            return .aside(kind: kind, try blocks(inner, depth: depth))
        }
        return .quote(try blocks(inner, depth: depth))
    }

    // MARK: - Lists and paragraphs

    private static func marker(of line: Line) -> Marker? {
        let content = line.content
        let indentation = line.indentation
        if content.hasPrefix("- ") || content.hasPrefix("* ") {
            let blanks = content.dropFirst().prefix { $0 == " " }.count
            return Marker(number: nil, width: indentation + 1 + blanks)
        }
        let digits = content.prefix { $0.isASCII && $0.isNumber }
        let after = content.dropFirst(digits.count)
        guard (1...9).contains(digits.count), after.hasPrefix(". "), let number = Int(digits)
        else { return nil }
        return Marker(number: number, width: indentation + digits.count + 2)
    }

    private mutating func list(
        _ rest: inout ArraySlice<Line>, depth: Int
    ) throws(MarkdownError) -> Block {
        guard let first = rest.first, let start = Self.marker(of: first), depth <= 3 else {
            throw MarkdownError(
                line: rest.first?.number ?? 0, reason: "a list has at most three levels")
        }
        var items: [[Block]] = []
        while let line = rest.first, let marker = Self.marker(of: line),
            (marker.number == nil) == (start.number == nil), line.indentation < start.width
        {
            rest.removeFirst()
            var inner = [Line(number: line.number, text: line.text.dropFirst(marker.width))]
            while let next = rest.first {
                if next.isBlank {
                    // A blank line belongs to the item if an indented line follows.
                    guard let after = rest.dropFirst().first(where: { !$0.isBlank }),
                        after.indentation >= marker.width
                    else { break }
                } else if next.indentation < marker.width {
                    guard !(inner.last?.isBlank ?? true), Self.marker(of: next) == nil,
                        !Self.startsBlock(next)
                    else { break }
                }
                inner.append(next.dropping(marker.width))
                rest.removeFirst()
            }
            items.append(try blocks(inner, depth: depth))
            // Blank lines between two items of the same list.
            let following = rest.drop { $0.isBlank }
            if let next = following.first, Self.marker(of: next) != nil,
                next.indentation < start.width
            {
                rest = following
            }
        }
        return .list(start: start.number, items: items)
    }

    /// Whether a line ends a paragraph before it.
    private static func startsBlock(_ line: Line) -> Bool {
        let content = line.content
        if let marker = marker(of: line) { return marker.number == nil || marker.number == 1 }
        return line.isBlank || content.hasPrefix("```") || content.hasPrefix("<!--")
            || content.hasPrefix("# ") || content.hasPrefix("##") || content.hasPrefix("> ")
            || content.first == "|" || isRule(content)
    }

    private func paragraph(_ rest: inout ArraySlice<Line>) throws(MarkdownError) -> Block {
        var text: [String] = []
        let number = rest.first?.number ?? 0
        while let line = rest.first, text.isEmpty || !Self.startsBlock(line) {
            rest.removeFirst()
            let isBroken = line.text.hasSuffix("  ")
            text.append(line.content + (isBroken ? "  " : ""))
        }
        // Blanks at the end of a paragraph break nothing.
        while text.last?.last == " " { text[text.count - 1].removeLast() }
        return .paragraph(try InlineParser.parse(text.joined(separator: "\n"), line: number))
    }

    // MARK: - Tables

    private func table(_ rest: inout ArraySlice<Line>) throws(MarkdownError) -> Block {
        let header = rest.removeFirst()
        guard let second = rest.popFirst(),
            let alignments = Self.alignments(Self.cells(of: second.content))
        else {
            throw MarkdownError(
                line: header.number, reason: "a table has a line of hyphens after its header")
        }
        var rows: [[[MarkdownDocument.Inline]]] = []
        while let line = rest.first, line.content.first == "|" {
            rest.removeFirst()
            rows.append(try row(line, count: alignments.count))
        }
        return .table(
            header: try row(header, count: alignments.count), alignments: alignments, rows: rows)
    }

    private func row(_ line: Line, count: Int) throws(MarkdownError) -> [[MarkdownDocument.Inline]]
    {
        let cells = Self.cells(of: line.content)
        guard cells.count == count else {
            throw MarkdownError(
                line: line.number, reason: "the row has \(cells.count) cells, the table \(count)")
        }
        var row: [[MarkdownDocument.Inline]] = []
        for cell in cells { row.append(try InlineParser.parse(cell, line: line.number)) }
        return row
    }

    /// The texts between the pipes; `\|` is a pipe in a cell.
    private static func cells(of content: Substring) -> [String] {
        var cells: [String] = []
        var cell = ""
        var isEscaped = false
        for character in content.dropFirst() {
            if character == "|", !isEscaped {
                cells.append(String(Line(number: 0, text: cell[...]).content))
                cell = ""
            } else {
                if character == "|" { cell.removeLast() }
                cell.append(character)
            }
            isEscaped = character == "\\" && !isEscaped
        }
        let last = Line(number: 0, text: cell[...])
        return last.isBlank ? cells : cells + [String(last.content)]
    }

    private static func alignments(_ cells: [String]) -> [MarkdownDocument.Alignment]? {
        var alignments: [MarkdownDocument.Alignment] = []
        for cell in cells {
            let hyphens = cell.filter { $0 == "-" }.count
            let colons = (cell.first == ":" ? 1 : 0, cell.count > 1 && cell.last == ":" ? 1 : 0)
            guard hyphens > 0, hyphens + colons.0 + colons.1 == cell.count else { return nil }
            switch colons {
            case (1, 1): alignments.append(.center)
            case (1, 0): alignments.append(.left)
            case (0, 1): alignments.append(.right)
            default: alignments.append(.none)
            }
        }
        return alignments.isEmpty ? nil : alignments
    }
}
