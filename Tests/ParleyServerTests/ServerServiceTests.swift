import HTTP
import JSON
import SQL
import Testing

@testable import ParleyServer

@Suite struct `The server's own paths` {
    @Test(arguments: ["/", "/openapi.json", "/health/live", "/health/ready"])
    func `H197 answer without credentials`(path: String) async throws {
        let testServer = TestServer()
        let response = await response(to: .get, path, of: try await testServer.components())
        #expect(response.status == .ok)
        #expect(try JSONDocument(response.bytes).root.kind == .object)
    }

    @Test func `refuse a body that is too long with the limit and the alternative (H44)`()
        async throws
    {
        let testServer = TestServer()
        let components = try await testServer.components()
        let response = components.service.bodyTooLarge(limit: 1 << 20)
        #expect(response.status == .contentTooLarge)
        let error = try JSONDocument(response.bytes).root
        #expect(
            error["message"]?.string == """
                The request body is too large: the limit here is 1,048,576 bytes; large parts of \
                messages are uploaded as content (POST …/content).
                """)
    }

    @Test func `refuse TRACE with the methods of the path (H20)`() async throws {
        let testServer = TestServer()
        let response = try await testServer.components().service
            .traceNotOffered(allowed: "GET, OPTIONS")
        #expect(response.status == .methodNotAllowed)
        let error = try JSONDocument(response.bytes).root
        #expect(error["id"]?.string == "method_not_allowed")
        #expect(
            error["message"]?.string
                == "TRACE is not offered here; the path offers GET, OPTIONS.")
    }

    @Test func `H194 report not ready from the stop signal on, but alive`() async throws {
        let testServer = TestServer()
        let components = try await testServer.components()
        components.readiness.end(.stopping)
        let ready = await response(to: .get, "/health/ready", of: components)
        #expect(ready.status == .serviceUnavailable)
        #expect(ready.fields["Retry-After"] != nil, "H98")
        #expect(
            try JSONDocument(ready.bytes).root["reason"]?.string == "The server is stopping.")
        #expect(await response(to: .get, "/health/live", of: components).status == .ok)
    }

    @Test func `H197 report not ready without the database, but alive`() async throws {
        let testServer = TestServer()
        let components = try await testServer.components()
        components.close()
        let ready = await response(to: .get, "/health/ready", of: components)
        #expect(ready.status == .serviceUnavailable)
        #expect(
            try JSONDocument(ready.bytes).root["reason"]?.string == "The database does not answer.")
        #expect(await response(to: .get, "/health/live", of: components).status == .ok)
    }

    @Test func `H197 say why the database cannot be used`() async {
        for (kind, reason) in [
            (SQLError.Kind.diskFull, UnreadyReason.full), (.corrupt, .damaged),
            (.notADatabase, .damaged), (.unreachable, .unreachable), (.timedOut, .unreachable),
        ] {
            let probe = ReadinessProbe(now: { 0 }) { throw SQLError(kind, "a test") }
            #expect(await probe.fault() == reason)
        }
    }

    @Test func `H197 keep the first reason`() {
        let readiness = Readiness()
        #expect(readiness.reason == nil)
        #expect(readiness.end(.damaged))
        #expect(!readiness.end(.stopping))
        #expect(readiness.reason == .damaged)
    }

    @Test func `H197 query the database at most once a second`() async {
        let clock = ManualClock()
        let probe = ReadinessProbe(now: { clock.now }) {
            clock.count += 1
            if clock.count > 1 { throw CancellationError() }
        }
        for _ in 0..<5 { #expect(await probe.fault() == nil) }
        #expect(clock.count == 1)
        clock.now = 1000
        for _ in 0..<5 { #expect(await probe.fault() != nil) }
        #expect(clock.count == 2)
    }

    @Test func `H197 query again after the clock was set back`() async {
        let clock = ManualClock()
        clock.now = 3_600_000
        let probe = ReadinessProbe(now: { clock.now }) {
            clock.count += 1
            if clock.count == 1 { throw CancellationError() }
        }
        #expect(await probe.fault() != nil)
        clock.now = 0
        #expect(await probe.fault() == nil)
        #expect(clock.count == 2)
    }

    @Test(arguments: ["/%68ealth/live", "/health/%6Cive"])
    func `H66 are found by the decoded path`(path: String) async throws {
        let testServer = TestServer()
        let response = await response(to: .get, path, of: try await testServer.components())
        #expect(response.status == .ok)
    }

    @Test(arguments: [
        "/", "/openapi.json", "/docs/errors", "/health/live", "/health/ready", "/metrics",
    ]) func `H65 refuse other methods and name the allowed ones`(path: String) async throws {
        let testServer = TestServer([("metrics.token", "a-token-for-the-metrics")])
        let components = try await testServer.components()
        let response = await response(to: .post, path, of: components)
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["Allow"] == "GET, HEAD, OPTIONS")
        #expect(response.fields["Content-Type"] == "application/json; charset=UTF-8")
        #expect(response.fields["Cache-Control"] == "no-store")
        let error = try JSONDocument(response.bytes).root
        #expect(error["id"]?.string == "method_not_allowed")
        #expect(error["code"]?.integer == 109)
        #expect(
            error["message"]?.string
                == "POST is not offered here; the path offers GET, HEAD, OPTIONS.")
        let options = await self.response(to: .options, path, of: components)
        #expect(options.status == .noContent)
        #expect(options.fields["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test(arguments: ["/uploads", "/uploads/x", "/download/x/y", "/apps/x/conversations", "/x"])
    func `H65 answer every other method with an error object`(path: String) async throws {
        let components = try await TestServer().components()
        let response = await response(to: .patch, path, of: components)
        #expect(
            [.methodNotAllowed, .unauthorized, .notFound, .forbidden].contains(response.status))
        let error = try JSONDocument(response.bytes).root
        #expect(error["code"]?.integer != nil || error["error"]?["code"] != nil)
    }

    @Test(arguments: ["/nothing", "/health", "/health/", "/apps", "/uploadsx", "/%zz"])
    func `leave unknown paths to the API's errors`(path: String) async throws {
        let testServer = TestServer()
        let response = await response(to: .get, path, of: try await testServer.components())
        #expect([.notFound, .badRequest].contains(response.status))
        #expect(try JSONDocument(response.bytes).root["code"] != nil)
    }

    private func response(
        to method: HTTP.Method, _ path: String, of components: ServerComponents
    ) async -> Response {
        await components.service.response(to: method, path)
    }
}

/// A manual clock and a counter.
private final class ManualClock: @unchecked Sendable {
    // Sendable because one task uses it.
    var now: Int64 = 0
    var count = 0
}

@Suite struct `Redirects to TLS` {
    @Test func `go to the configured host, whatever the request's host (H173)`() throws {
        let service = RedirectService(to: "https://chat.example.com")
        let request = Request(
            method: .get, target: RequestTarget("/a%20b?c=d"), fields: Fields([("Host", "evil")]))
        guard case .response(let response) = service.answer(to: request).outcome else {
            Issue.record("There is no immediate response.")
            return
        }
        #expect(response.status.code == 308)
        #expect(response.fields["Location"] == "https://chat.example.com/a%20b?c=d")
    }

    @Test func `need a public URL with https`() {
        let testServer = SettingsReader(
            SettingsSources(flags: [.init("tls.redirect_listen", "127.0.0.1:8081", name: "--set")]))
        #expect(
            testServer.errors.map(\.rule) == [
                "tls.redirect_listen needs a public_url that begins with https://"
            ])
    }
}

@Suite struct `The table of endpoints` {
    @Test func `equals the table in the article Endpoints`() throws {
        #expect(try Repository.article("Endpoints").contains(EndpointTable.markdown))
    }
}
