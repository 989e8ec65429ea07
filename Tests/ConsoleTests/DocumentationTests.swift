import HTTP
import JSON
import Testing

@testable import Console

@Suite struct `The documentation` {
    private static let articles = [
        Article(
            name: "Root",
            markdown: """
                # ``Root``

                The start.

                ## Topics

                ### Guides

                - <doc:FirstSteps>
                - <doc:APIKeys>
                """),
        Article(
            name: "FirstSteps",
            markdown:
                "# First steps\n\nRead <doc:APIKeys>.\n\n## Run it\n\nPaste the blue command.\n\n## Stop it\n\nPress a key."
        ),
        Article(
            name: "APIKeys",
            markdown: "# Keys\n\nKeys & secrets.\n\n## Rotate\n\nUse api.key_file, or paste."),
        Article(
            name: "api/messages", path: "api/messages", markdown: "# Messages\n\nThe operations."),
    ]

    private static let console = Console(
        articles: articles, root: "Root",
        groups: [ArticleGroup(title: "API", articles: ["api/messages"])], showsDemo: false,
        contentOrigins: ["https://files.example.com"])

    @Test func `has paths of words in lower case`() {
        #expect(Self.articles.map(\.path) == ["root", "first-steps", "api-keys", "api/messages"])
        #expect(Article(name: "ClientAPI", markdown: "").path == "client-api")
        #expect(Article(name: "ImportExport", markdown: "").path == "import-export")
    }

    @Test func `lists every article with its summary`() async {
        let (response, html) = await Self.get("/docs")
        #expect(response.status == .ok)
        #expect(html.contains("<dt><a href=\"/docs/first-steps\">First steps</a></dt>"))
        #expect(html.contains("<dd>Read <a href=\"/docs/api-keys\">Keys</a>.</dd>"))
        #expect(html.contains("<h2>API</h2>"))
    }

    @Test func `shows an article between its neighbours`() async {
        let (response, html) = await Self.get("/docs/api-keys")
        #expect(response.status == .ok)
        #expect(html.contains("<title>Keys · Parley</title>"))
        #expect(html.contains("Keys &amp; secrets."))
        #expect(html.contains("<a href=\"/docs/first-steps\" rel=\"prev\">← First steps</a>"))
        #expect(html.contains("<a href=\"/docs/api/messages\" rel=\"next\">Messages →</a>"))
        #expect(html.contains("<a href=\"/docs/api-keys\" aria-current=\"page\">Keys</a>"))
    }

    @Test func `may load only its own files and connect to the content`() async throws {
        let (response, _) = await Self.get("/docs/first-steps")
        let policy = try #require(response.fields["Content-Security-Policy"])
        #expect(
            policy == """
                default-src 'none'; script-src 'self'; style-src 'self'; \
                img-src 'self' blob: https://files.example.com; \
                media-src 'self' blob: https://files.example.com; \
                connect-src 'self' https://files.example.com; form-action 'self'; base-uri 'none'; \
                frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
                """)
        #expect(response.fields["X-Frame-Options"] == "DENY")
        #expect(response.fields["Referrer-Policy"] == "no-referrer")
        #expect(response.fields["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(response.fields["Cross-Origin-Resource-Policy"] == "same-origin")
    }

    @Test func `is revalidated by its ETag`() async throws {
        let (first, _) = await Self.get("/docs/first-steps")
        #expect(first.fields["Cache-Control"] == "no-cache")
        let tag = try #require(first.fields["ETag"])
        let (second, body) = await Self.get("/docs/first-steps", [("If-None-Match", tag)])
        #expect(second.status == .notModified)
        #expect(body.isEmpty)
        #expect(second.fields["ETag"] == tag)
    }

    @Test func `is compressed for browsers that accept it, with a tag of its own`() async throws {
        let (plain, _) = await Self.get("/docs/first-steps")
        let (coded, _) = await Self.get("/docs/first-steps", [("Accept-Encoding", "gzip")])
        #expect(coded.fields["Content-Encoding"] == "gzip")
        #expect(coded.fields["Vary"] == "Accept-Encoding")
        #expect((coded.content.length ?? 0) < plain.content.length ?? 0)
        let tag = try #require(coded.fields["ETag"])
        #expect(tag != plain.fields["ETag"])
        let (again, _) = await Self.get("/docs/first-steps", [("If-None-Match", tag)])
        #expect(again.status == .notModified)
    }

    @Test func `answers an unknown page with a form to search`() async {
        let (response, html) = await Self.get("/docs/nothing")
        #expect(response.status == .notFound)
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(html.contains("Page not found"))
        #expect(html.split(separator: "action=\"/docs/search\"").count == 3)
    }

    // MARK: - Search

    @Test(arguments: [
        ("paste", ["/docs/first-steps#run-it", "/docs/api-keys#rotate"]),
        ("BLUE paste", ["/docs/first-steps#run-it"]),
        ("command pas", ["/docs/first-steps#run-it"]),
        ("pas command", []),
        ("rot", ["/docs/api-keys#rotate"]),
        ("key_file", ["/docs/api-keys#rotate"]),
        ("steps stop", ["/docs/first-steps#stop-it"]),
        ("secrets", ["/docs/api-keys"]),
        ("…", []),
    ]) func `is found by all words, the last one by its beginning`(
        query: String, paths: [String]
    ) throws {
        let documentation = Documentation(articles: Self.articles, root: "Root", groups: [])
        #expect(try documentation.results(for: query).map(\.path) == paths)
    }

    @Test func `shows results without a script`() async {
        let (response, html) = await Self.get("/docs/search?q=%3Cb%3E+paste")
        #expect(response.status == .ok)
        #expect(html.contains("value=\"&lt;b&gt; paste\""))
        #expect(html.contains("No section has all words of “&lt;b&gt; paste”."))
        let (_, found) = await Self.get("/docs/search?q=paste")
        #expect(found.contains("<a href=\"/docs/first-steps#run-it\">First steps › Run it</a>"))
    }

    @Test func `answers a script with JSON`() async throws {
        let (response, body) = await Self.get(
            "/docs/search?q=blue", [("Accept", "application/json")])
        #expect(response.fields["X-Frame-Options"] == "DENY")
        #expect(
            body
                == #"{"results":[{"path":"/docs/first-steps#run-it","title":"First steps","section":"Run it","excerpt":"Paste the blue command."}]}"#
        )
    }

    @Test(arguments: ["", "?q=", "?q=%zz", "?q=" + String(repeating: "a", count: 201)])
    func `refuses a search without words or with too many`(query: String) async {
        let (response, html) = await Self.get("/docs/search\(query)")
        #expect(response.status == .unprocessable)
        #expect(html.contains("1 to 200 characters"))
    }

    /// Sends a request to the page of a path.
    private static func get(
        _ target: String, _ fields: [(name: String, value: String)] = []
    ) async -> (Response, String) {
        let request = Request(
            method: .get, target: RequestTarget(target), fields: Fields(fields))
        let path = request.target.path
        let answer =
            switch path {
            case "/docs": console.start(request, path)
            case "/docs/search": console.search(request, path)
            default: console.article(request, path, path: String(path.dropFirst("/docs/".count)))
            }
        guard case .work(_, let work) = answer.outcome else {
            Issue.record("There is no asynchronous answer.")
            return (Response(.internalServerError), "")
        }
        let response = await work(EmptyBody())
        return (response, String(decoding: response.content.joinedBytes ?? [], as: UTF8.self))
    }
}

@Suite struct `The demo` {
    @Test(arguments: [true, false]) func `exists only with the login that it needs`(isOpen: Bool) {
        let console = Console(
            articles: [], root: "", groups: [], showsDemo: isOpen, contentOrigins: [])
        let request = Request(
            method: .get, target: RequestTarget("/demo"), fields: Fields([]))
        guard case .response(let response) = console.demo(request, "/demo").outcome else {
            Issue.record("There is no immediate answer.")
            return
        }
        let body = String(decoding: response.content.joinedBytes ?? [], as: UTF8.self)
        #expect(response.status == (isOpen ? .ok : .notFound))
        #expect(body.contains(isOpen ? "/demo/demo.js" : "api.dev_login"))
        #expect(!body.contains("{assets}"))
    }
}

/// The body of a request without one.
private final class EmptyBody: RequestBody {
    var length: Int64? { 0 }
    func read(into buffer: inout BodyBuffer) async throws(BodyError) {}
    func interrupt() {}
}
