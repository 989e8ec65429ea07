import HTTP
import JSON
import MessagingWire
import PlatformAPI
import Testing

@testable import ParleyServer

@Suite struct `The pages of the documentation` {
    /// The HTML of every page by its path, read once for all tests.
    private static let pages = Task { () -> [String: String] in
        let service = try await TestServer().components().service
        var pages: [String: String] = [:]
        var rest = ["/docs"]
        while let path = rest.popLast() {
            guard pages[path] == nil else { continue }
            let response = await service.response(to: .get, path)
            #expect(response.status == .ok, "\(path)")
            let html = String(decoding: response.bytes, as: UTF8.self)
            pages[path] = html
            rest += Self.links(in: html).map(\.path).filter { $0.hasPrefix("/docs/") }
        }
        return pages
    }

    /// The links of a page to this server; the path of a link within the page is empty.
    private static func links(in html: String) -> [(path: String, anchor: String)] {
        html.matches(of: /href="([^"]*)"/).map { match in
            let parts = match.output.1.split(
                separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }.filter { link in !link.path.hasPrefix("http") }
    }

    @Test func `include every article and every noun of the API`() async throws {
        let pages = try await Self.pages.value
        #expect(pages.count > EmbeddedFiles.all.count + APIReference.nouns.count)
        let index = try #require(pages["/docs/api"])
        for noun in APIReference.nouns {
            #expect(pages["/docs/api/\(noun)"] != nil, "\(noun)")
            #expect(index.contains("href=\"/docs/api/\(noun)\""), "\(noun)")
        }
        for (path, _) in EmbeddedFiles.all {
            let title = try Repository.text("Sources/ParleyServer/ParleyServer.docc/\(path)")
                .split(separator: "\n")[0].dropFirst(2).filter { $0 != "`" }
            #expect(
                pages.values.contains { html in html.contains("<title>\(title) · Parley</title>") },
                "\(title)")
        }
    }

    @Test func `have no dead link`() async throws {
        let pages = try await Self.pages.value
        let service = try await TestServer().components().service
        var assets: Set<String> = []
        for (path, html) in pages {
            for link in Self.links(in: html) {
                let target = link.path.isEmpty ? path : link.path
                if target.hasPrefix("/docs") {
                    let other = try #require(pages[target], "\(path) links to \(target)")
                    #expect(
                        link.anchor.isEmpty || other.contains("id=\"\(link.anchor)\""),
                        "\(path) links to \(target)#\(link.anchor)")
                } else if assets.insert(target).inserted {
                    let response = await service.response(
                        to: .get, target, fields: [("Host", "localhost")])
                    #expect(response.status == .ok, "\(path) links to \(target)")
                }
            }
        }
        #expect(!assets.isEmpty)
    }

    @Test(arguments: APIErrorKind.allCases)
    func `have a section for each error, at its url (ruling 32)`(
        error: APIErrorKind
    ) async throws {
        let url = ErrorJSON.url(of: error, publicBase: "")
        let parts = url.split(separator: "#").map(String.init)
        let html = try #require(try await Self.pages.value[parts[0]])
        let section = try #require(
            html.split(separator: "<h3 id=\"\(parts[1])\">").dropFirst().first)
        #expect(section.contains("Code \(error.row.code), status \(error.row.status)."))
        #expect(section.contains("<code>{&quot;id&quot;:&quot;\(error.row.id)&quot;"))
    }

    @Test func `name every operation with a command and its errors`() async throws {
        let html = try await Self.pages.value.filter { $0.key.hasPrefix("/docs/api/") }.values
            .joined()
        for endpoint in Endpoint.routed {
            let line = "<code>\(endpoint.method.rawValue) \(endpoint.path)</code>"
            #expect(html.contains(line), "\(line)")
        }
    }

    @Test func `are absent with docs.enabled false`() async throws {
        let service = try await TestServer([("docs.enabled", "false")]).components().service
        for path in ["/docs", "/docs/errors", "/docs/search?q=a", "/docs/api/messages"] {
            #expect(await service.response(to: .get, path).status == .notFound, "\(path)")
        }
    }

    @Test(arguments: ["/docs/nothing", "/docs/api/nothing", "/docs/..%2fx", "/docs/a/b/c"])
    func `are 404 for other paths`(path: String) async throws {
        let service = try await TestServer().components().service
        #expect(await service.response(to: .get, path).status == .notFound)
    }
}

@Suite struct `Pages that act for users` {
    private static func service() async throws -> any Service {
        try await TestServer([
            ("api.dev_login", "true"), ("public_url", "http://chat.example.com"),
        ]).components().service
    }

    @Test(arguments: [
        "/demo", "/dev/login", "/dev/login/", "/dev/%6Cogin", "/console/assets/x/shared/base.css",
        "/console", "/console/overview", "/console/a/x/users/a%2Fb/sessions",
    ])
    func `are refused under the names of other sites`(path: String) async throws {
        let method: HTTP.Method = path.hasPrefix("/dev") ? .post : .get
        for host in ["evil.example", "chat.example.com.evil.example:8080"] {
            let response = try await Self.service().response(
                to: method, path, fields: [("Host", host)])
            #expect(response.status == .misdirected)
            let message = try JSONDocument(response.bytes).root["message"]?.string
            #expect(message?.contains("http.allowed_hosts") == true)
        }
        for host in ["127.0.0.1:8080", "localhost", "chat.example.com"] {
            let response = try await Self.service().response(
                to: method, path, fields: [("Host", host)])
            #expect(response.status != .misdirected)
        }
    }

    @Test(arguments: [
        "/console", "/console/", "/console/login", "/console/a/x/log",
        "/console/a/x/users/a%2Fb%3F",
        "/console/a/x/conversations/1/metadata",
    ])
    func `are one page for the paths of the console`(path: String) async throws {
        let service = try await Self.service()
        let first = await service.response(to: .get, path, fields: [("Host", "localhost")])
        #expect(first.status == .ok)
        #expect(first.fields["Cache-Control"] == "no-cache")
        #expect(first.fields["X-Frame-Options"] == "DENY")
        let policy = try #require(first.fields["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'; script-src 'self';"))
        #expect(policy.contains("require-trusted-types-for 'script'; trusted-types 'none'"))
        let tag = try #require(first.fields["ETag"])
        let again = await service.response(
            to: .get, path, fields: [("Host", "localhost"), ("If-None-Match", tag)])
        #expect(again.status == .notModified)
        let post = await service.response(to: .post, path, fields: [("Host", "localhost")])
        #expect(post.status == .methodNotAllowed)
    }

    @Test(arguments: ["/console", "/console/login", "/console/a/x/log"])
    func `are no console with console.enabled false`(path: String) async throws {
        let service = try await TestServer([("console.enabled", "false")]).components().service
        let response = await service.response(to: .get, path, fields: [("Host", "localhost")])
        #expect(response.status == .notFound)
    }

    @Test func `are the demo only with the setting of its login`() async throws {
        let host = [("Host", "localhost")]
        #expect(try await Self.service().response(to: .get, "/demo", fields: host).status == .ok)
        let without = await (try await TestServer().components()).service
            .response(to: .get, "/demo", fields: host)
        #expect(without.status == .notFound)
        #expect(String(decoding: without.bytes, as: UTF8.self).contains("api.dev_login"))
    }

    @Test(arguments: [
        (
            [("uploads.upload_public_base", "https://files.example.com/up")],
            "https://files.example.com"
        ),
        (
            [
                ("s3.bucket", "films"), ("s3.endpoint", "http://127.0.0.1:9"),
                ("s3.redirect", "true"),
            ],
            "http://127.0.0.1:9"
        ),
    ]) func `may load content from where it is stored`(
        flags: [(String, String)], origin: String
    ) async throws {
        let settings = TestServer(flags.map { (key: $0.0, value: $0.1) }).settings
        #expect(settings.contentOrigins == [origin])
    }
}
