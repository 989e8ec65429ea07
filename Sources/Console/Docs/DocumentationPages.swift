import Bytes
import HTTP
import JSON
import SystemSupport

/// Answers requests for the documentation with HTML pages that need no script.
final class DocumentationPages: Sendable {
    let documentation: Documentation
    private let assets: AssetStore
    private let policy: PagePolicy
    private let queue = WorkQueue("parley.docs")
    private let pages = Locked<[String: RenderedPage]>([:])

    /// A page as it is sent.
    private struct RenderedPage {
        let tag: EntityTag
        let bytes: [UInt8]
        let gzip: [UInt8]
    }

    init(_ documentation: Documentation, _ assets: AssetStore, _ policy: PagePolicy) {
        self.documentation = documentation
        self.assets = assets
        self.policy = policy
    }

    /// The longest query of a search, in characters.
    private static let longestQuery = 200

    /// Returns the first page, for the path `nil`, or an article.
    func answer(to request: Request, _ route: String, path: String?) -> Answer {
        Answer(route) { [self] _ in
            let known = pages.withLock { $0[path ?? ""] }
            let page =
                if let known { known } else { await queue.run { self.render(path) } }
            guard let page else {
                return await response(
                    .notFound, to: request,
                    html(title: "Page not found") { html in
                        html.element("h1", text: "Page not found")
                        html.element("p", text: "There is no such page. Search for its subject:")
                        Self.writeForm(query: "", id: "again", to: &html)
                    })
            }
            return response(to: request, page)
        }
    }

    /// Returns the results of a search, as JSON for clients that accept it first.
    func search(_ request: Request, _ route: String) -> Answer {
        let parameters = (try? request.target.parameters()) ?? []
        let query = parameters.first { $0.name == "q" }?.value ?? ""
        let isJSON = request.fields["Accept"]?.hasPrefix("application/json") == true
        return Answer(route) { [self] _ in
            guard (1...Self.longestQuery).contains(query.count) else {
                let text = "A search needs 1 to \(Self.longestQuery) characters in `q`."
                return isJSON
                    ? json(.unprocessable) { writer in writer.member("message", text) }
                    : await response(
                        .unprocessable, to: request,
                        html(title: "Search") { html in
                            html.element("h1", text: "Search")
                            html.element("p", text: text)
                            Self.writeForm(query: "", id: "again", to: &html)
                        })
            }
            let results = await queue.run { (try? self.documentation.results(for: query)) ?? [] }
            guard isJSON else {
                return await response(.ok, to: request, page(of: results, for: query))
            }
            return json(.ok) { writer in
                writer.key("results")
                writer.array { writer in
                    for result in results {
                        writer.object { writer in
                            writer.member("path", result.path)
                            writer.member("title", result.title)
                            writer.member("section", result.section)
                            writer.member("excerpt", result.excerpt)
                        }
                    }
                }
            }
        }
    }

    private func page(of results: [ArticleSearch.Result], for query: String) -> [UInt8] {
        html(title: "Search: \(query)", query: query) { html in
            html.element("h1", text: "Search")
            let count = results.count == 1 ? "1 section" : "\(results.count) sections"
            let most = results.count == ArticleSearch.limit ? "First " : ""
            html.element(
                "p",
                text: results.isEmpty ? "No section has all words of “\(query)”." : most + count)
            html.element("ul", [("class", "results")]) { html in
                for result in results {
                    html.element("li") { html in
                        html.element("a", [("href", result.path)]) { html in
                            html.text(result.title)
                            if !result.section.isEmpty { html.text(" › \(result.section)") }
                        }
                        html.element("p", text: result.excerpt)
                    }
                }
            }
        }
    }

    // MARK: - Rendering

    /// Renders a page and keeps it; `nil` when there is none. The tests render every article, so none fails here.
    private func render(_ path: String?) -> RenderedPage? {
        guard let bytes = try? html(ofPage: path) else { return nil }
        var sum = CRC32C()
        sum.update(bytes.span)
        let page = RenderedPage(
            tag: EntityTag(opaque: "\(String(sum.value, radix: 16))-\(bytes.count)"), bytes: bytes,
            gzip: ContentCoding.gzip.compress(bytes))
        pages.withLock { $0[path ?? ""] = page }
        return page
    }

    private func html(ofPage path: String?) throws -> [UInt8]? {
        guard let path else {
            let start = try documentation.start()
            return html(title: "Parley documentation") { html in
                html.element("h1", text: "Parley documentation")
                html.append(start)
            }
        }
        return try documentation.page(at: path).map { page in
            html(title: page.title, path: "/docs/\(path)", contents: page.contents) { html in
                html.element("article") { html in html.append(page.content) }
                html.element("nav", [("class", "pager"), ("aria-label", "Previous and next")]) {
                    html in
                    if let link = page.previous {
                        html.element(
                            "a", [("href", link.path), ("rel", "prev")], text: "← \(link.title)")
                    }
                    if let link = page.next {
                        html.element(
                            "a", [("href", link.path), ("rel", "next")], text: "\(link.title) →")
                    }
                }
            }
        }
    }

    /// Writes a page around its main part.
    private func html(
        title: String, path: String? = nil, query: String = "",
        contents: [Documentation.Section] = [], _ main: (inout HTMLText) -> Void
    ) -> [UInt8] {
        var html = HTMLText()
        html.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        html.element("title", text: path == nil ? title : "\(title) · Parley")
        html.open(
            "link", [("rel", "icon"), ("href", "\(assets.root)/shared/icon.svg")])
        for name in ["shared/base.css", "docs/docs.css"] {
            html.open("link", [("rel", "stylesheet"), ("href", "\(assets.root)/\(name)")])
        }
        html.element("script", [("type", "module"), ("src", "\(assets.root)/docs/docs.js")]) { _ in
        }
        html.markup("\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n")
        html.element("header", [("class", "bar")]) { html in
            html.element(
                "a", [("class", "brand"), ("href", "/docs")], text: "Parley documentation")
            html.element("a", [("class", "menu"), ("href", "#articles")], text: "Articles")
            Self.writeForm(query: query, id: "query", to: &html)
        }
        html.element("div", [("class", "columns")]) { html in
            html.element("main", [("id", "main"), ("tabindex", "-1")]) { html in
                if contents.count > 1 { Self.write(contents, to: &html) }
                main(&html)
            }
            writeNavigation(path, to: &html)
        }
        html.markup("\n</body>\n</html>\n")
        return Array(html.string.utf8)
    }

    private static func writeForm(query: String, id: String, to html: inout HTMLText) {
        html.element("form", [("action", "/docs/search"), ("role", "search")]) { html in
            html.element("label", [("for", id)], text: "Search the documentation")
            html.open(
                "input",
                [
                    ("id", id), ("name", "q"), ("type", "search"), ("required", ""),
                    ("maxlength", "\(longestQuery)"), ("placeholder", "Search"), ("value", query),
                ])
            html.element("button", text: "Search")
        }
    }

    private static func write(
        _ contents: [Documentation.Section], to html: inout HTMLText
    ) {
        html.element("details", [("class", "contents")]) { html in
            html.element("summary", text: "On this page")
            html.element("ul") { html in
                for section in contents {
                    html.element("li", section.isInner ? [("class", "inner")] : []) { html in
                        html.element("a", [("href", "#\(section.anchor)")], text: section.title)
                    }
                }
            }
        }
    }

    private func writeNavigation(_ path: String?, to html: inout HTMLText) {
        html.element("nav", [("id", "articles"), ("aria-label", "Articles")]) { html in
            for group in (try? documentation.navigation()) ?? [] {
                html.element("h2", text: group.title)
                html.element("ul") { html in
                    for link in group.links {
                        html.element("li") { html in
                            var attributes: [(name: StaticString, value: String)] = [
                                ("href", link.path)
                            ]
                            if link.path == path { attributes.append(("aria-current", "page")) }
                            html.element("a", attributes, text: link.title)
                        }
                    }
                }
            }
        }
    }

    // MARK: - Responses

    private func response(to request: Request, _ page: RenderedPage) -> Response {
        let isCompressed = ContentCoding.preferred(by: request.fields) == .gzip
        var fields = ResponseFields()
        fields.add("ETag", (isCompressed ? page.tag.coded(ContentCoding.gzip.name) : page.tag).text)
        fields.add("Vary", "Accept-Encoding")
        // A browser may store the page but must revalidate it: another release has other pages.
        fields.add("Cache-Control", "no-cache")
        let known = Preconditions(tag: page.tag, modified: nil)
        guard known.evaluate(request.method, request.fields, at: 0) != .notModified else {
            return Response(.notModified, fields: fields)
        }
        if isCompressed { fields.add("Content-Encoding", ContentCoding.gzip.name) }
        return html(.ok, isCompressed ? page.gzip : page.bytes, fields)
    }

    /// A page that is made for one request.
    private func response(_ status: Status, to request: Request, _ bytes: [UInt8]) async -> Response
    {
        await html(status, bytes, .uncached).compressed(for: request.fields)
    }

    private func html(_ status: Status, _ bytes: [UInt8], _ fields: ResponseFields) -> Response {
        var fields = fields
        fields.add("Content-Type", "text/html; charset=UTF-8")
        policy.add(to: &fields)
        return Response(status, fields: fields, content: .bytes(bytes))
    }

    private func json(_ status: Status, _ members: (inout JSONWriter) -> Void) -> Response {
        var writer = JSONWriter()
        writer.object { writer in members(&writer) }
        var fields = ResponseFields.uncached
        fields.add("Content-Type", "application/json")
        PagePolicy.addCommonFields(to: &fields)
        return Response(status, fields: fields, content: .bytes(writer.finish()))
    }
}

extension ResponseFields {
    /// The header of an answer that no cache stores.
    static var uncached: ResponseFields {
        var fields = ResponseFields()
        fields.add("Cache-Control", "no-store")
        return fields
    }
}
