import SystemSupport

/// The articles that the server serves: their pages, navigation and search.
///
/// A page is rendered for its first request and kept.
final class Documentation: Sendable {
    private let articles: [Article]
    private let byName: [String: Article]
    private let byPath: [String: Article]
    private let root: String
    private let groups: [ArticleGroup]
    private let rendered = Locked<Rendered>(Rendered())

    /// What has been parsed and rendered so far.
    private struct Rendered {
        var documents: [String: MarkdownDocument] = [:]
        var groups: [ArticleGroup]?
        var search: ArticleSearch?
    }

    /// - Parameters:
    ///   - articles: All articles; their names and paths are unique.
    ///   - root: The name of the article whose topics order the others.
    ///   - groups: Groups after those topics.
    init(articles: [Article], root: String, groups: [ArticleGroup]) {
        self.articles = articles
        self.root = root
        self.groups = groups
        byName = Dictionary(uniqueKeysWithValues: articles.map { ($0.name, $0) })
        byPath = Dictionary(uniqueKeysWithValues: articles.map { ($0.path, $0) })
    }

    /// A page: its title, and the parts that the layout places.
    struct Page: Sendable {
        let title: String
        let content: HTMLText
        /// The sections of levels 2 and 3.
        let contents: [Section]
        /// The articles before and after it in the navigation.
        let previous: Link?
        let next: Link?
    }

    /// A section of a page.
    struct Section: Equatable, Sendable {
        let anchor: String
        let title: String
        /// Whether it is part of a larger one.
        let isInner: Bool
    }

    /// A link to an article.
    struct Link: Equatable, Sendable {
        let path: String
        let title: String
    }

    /// The paths of all pages.
    var paths: [String] { articles.map(\.path) }

    /// The navigation: each group with links to its articles.
    func navigation() throws -> [(title: String, links: [Link])] {
        try allGroups().map { group in
            (group.title, try group.articles.map { name in try link(toArticle: name) })
        }
    }

    /// Renders the page with a path below `/docs/`; `nil` when there is none.
    func page(at path: String) throws -> Page? {
        guard let article = byPath[path] else { return nil }
        let document = try document(article)
        // The topics are the navigation.
        let blocks = Array(document.blocks.prefix { $0.headingText != "Topics" })
        let order = try allGroups().flatMap(\.articles)
        let index = order.firstIndex(of: article.name)
        return Page(
            title: document.title, content: try renderer.html(blocks),
            contents: blocks.compactMap { block in
                guard case .heading(let level, let inlines, let anchor) = block,
                    (2...3).contains(level)
                else { return nil }
                return Section(anchor: anchor, title: inlines.plainText, isInner: level == 3)
            },
            previous: try index.flatMap { index in
                index > 0 ? try link(toArticle: order[index - 1]) : nil
            },
            next: try index.flatMap { index in
                index + 1 < order.count ? try link(toArticle: order[index + 1]) : nil
            })
    }

    /// Renders the first page: every article with its summary.
    func start() throws -> HTMLText {
        var html = HTMLText()
        for group in try allGroups() {
            html.element("h2", text: group.title)
            try html.element("dl", [("class", "articles")]) { html in
                for name in group.articles {
                    let link = try link(toArticle: name)
                    html.element("dt") { html in
                        html.element("a", [("href", link.path)], text: link.title)
                    }
                    let summary = try byName[name].map { try document($0).summary } ?? []
                    try html.element("dd") { html in html.append(try renderer.html(summary)) }
                }
            }
        }
        return html
    }

    /// Returns the sections with all words of a query.
    func results(for query: String) throws -> [ArticleSearch.Result] {
        if let search = rendered.withLock({ $0.search }) { return search.results(for: query) }
        let search = ArticleSearch(
            try articles.map { article in ("/docs/\(article.path)", try document(article)) })
        rendered.withLock { $0.search = search }
        return search.results(for: query)
    }

    private var renderer: HTMLRenderer {
        HTMLRenderer { [self] name in
            // A link to an article that cannot be parsed is dead, too.
            guard let article = byName[name], let document = try? document(article) else {
                return nil
            }
            return ("/docs/\(article.path)", document.title)
        }
    }

    private func link(toArticle name: String) throws -> Link {
        guard let article = byName[name] else {
            throw HTMLRenderer.DeadLink(target: "article \(name)")
        }
        return Link(path: "/docs/\(article.path)", title: try document(article).title)
    }

    private func allGroups() throws -> [ArticleGroup] {
        if let known = rendered.withLock({ $0.groups }) { return known }
        let topics = try byName[root].map { ArticleGroup.topics(of: try document($0)) } ?? []
        let all = topics + groups
        rendered.withLock { $0.groups = all }
        return all
    }

    private func document(_ article: Article) throws -> MarkdownDocument {
        if let known = rendered.withLock({ $0.documents[article.name] }) { return known }
        do throws(MarkdownError) {
            let document = try MarkdownDocument(article.markdown())
            rendered.withLock { $0.documents[article.name] = document }
            return document
        } catch {
            throw InvalidArticle(name: article.name, error: error)
        }
    }

    /// An article that is not in the subset of Markdown.
    struct InvalidArticle: Error, CustomStringConvertible {
        let name: String
        let error: MarkdownError

        var description: String { "\(name).md, \(error)" }
    }
}
