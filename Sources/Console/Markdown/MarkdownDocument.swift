/// A document in the subset of Markdown and DocC that the articles use.
///
/// Anything outside of the subset is an error with its line, so that no article is shown in part.
struct MarkdownDocument: Equatable, Sendable {
    /// A part of a document that stands on lines of its own.
    indirect enum Block: Equatable, Sendable {
        /// Levels 1 to 4; the anchor is unique in the document.
        case heading(level: Int, [Inline], anchor: String)
        case paragraph([Inline])
        /// The number of the first item, or `nil` for bullets.
        case list(start: Int?, items: [[Block]])
        case code(language: String, text: String)
        case table(header: [[Inline]], alignments: [Alignment], rows: [[[Inline]]])
        case quote([Block])
        /// A quote that begins with `Note:`, `Important:`, `Tip:` or `Warning:`.
        case aside(kind: String, [Block])
        case rule
    }

    /// A part of a line.
    indirect enum Inline: Equatable, Sendable {
        case text(String)
        case code(String)
        case emphasis([Inline])
        case strong([Inline])
        case link([Inline], target: String)
        /// `<doc:Name#anchor>`.
        case article(name: String, anchor: String?)
        case image(alternative: String, source: String)
        /// Two blanks or a backslash at the end of a line.
        case lineBreak
    }

    /// The alignment of a column of a table.
    enum Alignment: Sendable { case none, left, center, right }

    /// The blocks in order.
    let blocks: [Block]

    /// Parses a document.
    init(_ text: String) throws(MarkdownError) {
        var parser = BlockParser(text)
        blocks = try parser.document()
    }

    /// The text of the first heading; empty without one.
    var title: String {
        for case .heading(1, let inlines, _) in blocks { return inlines.plainText }
        return ""
    }

    /// The first paragraph, which is the summary of an article; empty without one.
    var summary: [Inline] {
        for case .paragraph(let inlines) in blocks { return inlines }
        return []
    }
}

/// Why a document is not in the subset.
struct MarkdownError: Error, Equatable, CustomStringConvertible {
    /// Counted from 1.
    let line: Int
    let reason: String

    var description: String { "line \(line): \(reason)" }
}

extension [MarkdownDocument.Inline] {
    /// The text without markup.
    var plainText: String {
        map { inline in
            switch inline {
            case .text(let text), .code(let text), .image(let text, _): text
            case .emphasis(let inner), .strong(let inner), .link(let inner, _): inner.plainText
            case .article(let name, _): name
            case .lineBreak: " "
            }
        }.joined()
    }
}
