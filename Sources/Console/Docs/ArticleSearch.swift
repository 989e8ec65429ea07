/// The full-text search over the sections of all articles.
///
/// A section is found by all words of a query; the last one may be the beginning of a word, because a query is also
/// sent while it is typed.
struct ArticleSearch: Sendable {
    /// A section that was found.
    struct Result: Equatable, Sendable {
        /// The address of the section.
        let path: String
        let title: String
        /// The heading; empty for the beginning of the article.
        let section: String
        /// The text around the first word that was found.
        let excerpt: String
    }

    /// A part of an article below one heading.
    private struct Section {
        let path: String
        let title: String
        let heading: String
        let text: String
        /// The words of the text and the headings, sorted.
        let words: [String]
        let headingWords: [String]
    }

    /// The most results.
    static let limit = 20
    /// The longest excerpt, in characters.
    private static let excerptLength = 160

    private let sections: [Section]

    init(_ articles: [(path: String, document: MarkdownDocument)]) {
        sections = articles.flatMap(Self.sections)
    }

    /// Returns the sections with all words of a query, those with the words in their heading first.
    func results(for query: String) -> [Result] {
        let words = Self.words(of: query)
        guard let last = words.last else { return [] }
        let whole = words.dropLast()
        let matches = { (known: [String]) in
            whole.allSatisfy { word in Self.hasWord(word, in: known, isPrefix: false) }
                && Self.hasWord(last, in: known, isPrefix: true)
        }
        let found = sections.filter { section in matches(section.words) }
        let byHeading = found.filter { section in matches(section.headingWords) }
        let byText = found.filter { section in !matches(section.headingWords) }
        return (byHeading + byText).prefix(Self.limit).map { section in
            Result(
                path: section.path, title: section.title, section: section.heading,
                excerpt: Self.excerpt(of: section.text, around: words))
        }
    }

    private static func sections(
        of article: (path: String, document: MarkdownDocument)
    ) -> [Section] {
        let title = article.document.title
        var sections: [Section] = []
        var (heading, anchor, text) = ("", "", "")
        func finish() {
            let headingWords = words(of: "\(title) \(heading)").sorted()
            sections.append(
                Section(
                    path: anchor.isEmpty ? article.path : "\(article.path)#\(anchor)",
                    title: title, heading: heading, text: text,
                    words: Array(Set(words(of: text) + headingWords)).sorted(),
                    headingWords: headingWords))
        }
        for block in article.document.blocks {
            if case .heading(let level, let inlines, let name) = block {
                guard level > 1 else { continue }
                finish()
                (heading, anchor, text) = (inlines.plainText, name, "")
            } else {
                text += block.plainText + " "
            }
        }
        finish()
        return sections
    }

    /// Words in lower case: letters, digits and underscores.
    private static func words(of text: String) -> [String] {
        text.lowercased().split { character in
            !character.isLetter && !character.isNumber && character != "_"
        }.map(String.init)
    }

    private static func hasWord(_ word: String, in words: [String], isPrefix: Bool) -> Bool {
        var (low, high) = (0, words.count)
        while low < high {
            let middle = (low + high) / 2
            if words[middle] < word { low = middle + 1 } else { high = middle }
        }
        guard low < words.count else { return false }
        return isPrefix ? words[low].hasPrefix(word) : words[low] == word
    }

    private static func excerpt(of text: String, around words: [String]) -> String {
        let characters = Array(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
        let lower = characters.map { character in character.lowercased().first ?? character }
        let first = words.compactMap { word in lower.firstRange(of: Array(word))?.lowerBound }.min()
        // The excerpt begins at a word.
        var start = max(0, (first ?? 0) - excerptLength / 3)
        while start > 0, characters[start - 1] != " " { start -= 1 }
        let end = min(characters.count, start + excerptLength)
        return (start > 0 ? "… " : "") + String(characters[start..<end])
            + (end < characters.count ? " …" : "")
    }
}

extension MarkdownDocument.Block {
    /// The text without markup.
    fileprivate var plainText: String {
        switch self {
        case .heading(_, let inlines, _), .paragraph(let inlines): inlines.plainText
        case .list(_, let items): items.joined().map(\.plainText).joined(separator: " ")
        case .code(_, let text): text
        case .table(let header, _, let rows):
            ([header] + rows).joined().map(\.plainText).joined(separator: " ")
        case .quote(let blocks), .aside(_, let blocks):
            blocks.map(\.plainText).joined(separator: " ")
        case .rule: ""
        }
    }
}
