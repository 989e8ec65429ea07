public import HTTP

/// The web pages of the server: the documentation, the demo, the operator console, and their scripts and style sheets.
public final class Console: Sendable {
    private let assets: AssetStore
    private let documentation: DocumentationPages
    /// The demo; `nil` if the server does not have the login that it uses.
    private let demo: StaticPage?
    private let operators: StaticPage

    /// - Parameters:
    ///   - articles: The articles of the documentation.
    ///   - root: The name of the article whose topics order the others.
    ///   - groups: Groups of articles after those topics.
    ///   - showsDemo: Whether the demo is served: its users log in without a password.
    ///   - contentOrigins: The origins of uploads and downloads other than this server's.
    public init(
        articles: [Article], root: String, groups: [ArticleGroup], showsDemo: Bool,
        contentOrigins: [String]
    ) {
        let policy = PagePolicy(contentOrigins: contentOrigins)
        assets = AssetStore(EmbeddedFiles.all)
        documentation = DocumentationPages(
            Documentation(articles: articles, root: root, groups: groups), assets, policy)
        demo = showsDemo ? StaticPage("demo/demo.html", assets, policy) : nil
        operators = StaticPage("console/index.html", assets, policy)
    }

    /// Answers with the first page of the documentation.
    public func start(_ request: Request, _ route: String) -> Answer {
        documentation.answer(to: request, route, path: nil)
    }

    /// Answers with an article, or 404 with a form to search.
    public func article(_ request: Request, _ route: String, path: String) -> Answer {
        documentation.answer(to: request, route, path: path)
    }

    /// Answers with the sections that have all words of `?q=`.
    public func search(_ request: Request, _ route: String) -> Answer {
        documentation.search(request, route)
    }

    /// Answers with the demo, or 404 with the setting that it needs.
    public func demo(_ request: Request, _ route: String) -> Answer {
        Answer(
            route,
            demo?.response(to: request)
                ?? PagePolicy.notFound(
                    "The demo exists only if the setting `api.dev_login` is true."))
    }

    /// Answers with the operator console, whose script shows the page of the path.
    public func operatorPage(_ request: Request, _ route: String) -> Answer {
        Answer(route, operators.response(to: request))
    }

    /// Answers with a script, a style sheet or an image.
    public func asset(
        _ request: Request, _ route: String, hash: String?, path: String
    ) -> Answer {
        Answer(route, assets.response(to: request, hash: hash, path: path))
    }
}
