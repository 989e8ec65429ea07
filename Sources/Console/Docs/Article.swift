/// A page of the documentation, in Markdown.
public struct Article: Sendable {
    /// The name by which other articles link to it: `<doc:UploadGuide>`.
    public let name: String
    /// Its path below `/docs/`.
    public let path: String
    let markdown: @Sendable () -> String

    /// - Parameters:
    ///   - path: The path below `/docs/`; by default the name in lower case with hyphens, as `upload-guide`.
    ///   - markdown: The text, which begins with a heading of level 1; evaluated for the first request.
    public init(
        name: String, path: String? = nil, markdown: @escaping @autoclosure @Sendable () -> String
    ) {
        self.name = name
        self.path = path ?? Self.path(of: name)
        self.markdown = markdown
    }

    private static func path(of name: String) -> String {
        let characters = Array(name)
        var path = ""
        for (index, character) in characters.enumerated() {
            let follows = index > 0 && characters[index - 1].isLowercase
            let precedes =
                index > 0 && index + 1 < characters.count && characters[index + 1].isLowercase
            if character.isUppercase, follows || precedes { path += "-" }
            path += character.lowercased()
        }
        return path
    }
}

/// A heading of the navigation with its articles.
public struct ArticleGroup: Sendable {
    let title: String
    /// The names of the articles.
    let articles: [String]

    /// Makes a group of articles by their names.
    public init(title: String, articles: [String]) {
        self.title = title
        self.articles = articles
    }

    /// Reads the groups under the heading `Topics` of a DocC catalog's first article.
    static func topics(of document: MarkdownDocument) -> [ArticleGroup] {
        var groups: [ArticleGroup] = []
        var title: String?
        for block in document.blocks.drop(while: { $0.headingText != "Topics" }).dropFirst() {
            switch block {
            case .heading: title = block.headingText
            case .list(_, let items):
                let names = items.compactMap { item in
                    if case .paragraph(let inlines)? = item.first,
                        case .article(let name, _)? = inlines.first
                    {
                        name
                    } else {
                        nil
                    }
                }
                groups.append(ArticleGroup(title: title ?? "", articles: names))
            default: continue
            }
        }
        return groups
    }
}

extension MarkdownDocument.Block {
    /// The text of a heading; `nil` for other blocks.
    var headingText: String? {
        if case .heading(_, let inlines, _) = self { inlines.plainText } else { nil }
    }
}
