import Bytes
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `The error page` {
    @Test(arguments: APIErrorKind.allCases)
    func `has a section for each error, at its url (ruling 32)`(
        error: APIErrorKind
    ) async throws {
        let url = ErrorJSON.url(of: error, publicBase: TestServer.base)
        let parts = url.split(separator: "#").map(String.init)
        #expect(parts.count == 2)
        let page = try await send("GET", String(parts[0].dropFirst(TestServer.base.count)))
        #expect(page.status == 200)
        #expect(page.body.contains("<section id=\"\(parts[1])\">"))
        #expect(page.body.contains("Code \(error.row.code), status \(error.row.status)."))
    }

    @Test func `loads no resources and runs no scripts (ruling 32)`() async throws {
        let page = try await send("GET", "/docs/errors")
        #expect(page["Content-Type"] == "text/html; charset=UTF-8")
        #expect(page["Referrer-Policy"] == "no-referrer")
        for sign in ["http:", "https:", "src=", "<script", "<link", "@import", "url(", "style=\""] {
            #expect(!page.body.contains(sign), "\(sign)")
        }
        let style = try #require(
            page.body.split(separator: "<style>").last?.split(separator: "</style>").first)
        let hash = Base64.encode(SHA256.digest(of: Array(style.utf8)))
        let policy = try #require(page["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-\(hash)';"))
        #expect(page.body.split(separator: "`").count == 1, "backticks become code elements")
    }

    @Test func `is revalidated by its ETag`() async throws {
        let tag = try #require(try await send("GET", "/docs/errors")["ETag"])
        let again = try await send("GET", "/docs/errors", [("If-None-Match", tag)])
        #expect(again.status == 304)
        #expect(again["ETag"] == tag)
        #expect(again.body.isEmpty)
        #expect(try await send("HEAD", "/docs/errors").body.isEmpty)
    }

    private func send(
        _ method: String, _ target: String, _ fields: [(name: String, value: String)] = []
    ) async throws -> PlainAnswer {
        try await RouterClient(service: try await TestServer.shared.service).send(
            PlainRequest(method: method, target: target, fields: fields, body: ""))
    }
}

@Suite struct `Too many open uploads` {
    @Test func `get an error object with the limit and the time to retry (ruling 34)`()
        async throws
    {
        let sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: client)
        #expect(made.status == 201)
        var last = made
        for _ in 0...200 {
            last = try await sample.send(
                "POST", "/apps/{app}/users/ana/content",
                fields: [("Upload-Content-Type", "text/plain"), ("Upload-Content-Length", "10")],
                by: client)
        }
        #expect(last.status == 429)
        #expect(last["Retry-After"] == "60")
        #expect(
            last.body == """
                {"id":"rate_limited","code":116,"message":"200 uploads are open, which is the limit; \
                complete or cancel one. Retry after 60 seconds.","url":"https://chat.example.com/docs/errors#rate_limited"}
                """)
    }
}
