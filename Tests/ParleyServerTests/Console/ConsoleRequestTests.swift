import Console
import HTTP
import JSON
import Messaging
import MessagingStore
import Testing

@testable import ParleyServer

@Suite struct `Requests to the API of the console` {
    /// Changes to a request of the console that other sites could send.
    @Test(arguments: [
        (["X-Parley-Console": ""], 403), (["X-Parley-Console": "0"], 403),
        (["Origin": ""], 403), (["Origin": "null"], 403),
        (["Origin": "http://evil.example"], 403),
        (["Origin": "http://localhost:8081"], 403),
        (["Origin": "http://localhost:8080.evil.example"], 403),
        (["Origin": "ftp://localhost:8080"], 403),
        (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-site"], 403),
        (["Sec-Fetch-Site": "none"], 403),
        (["Content-Type": "text/plain"], 415), (["Content-Type": ""], 415),
        (["Content-Type": "application/x-www-form-urlencoded"], 415),
        (["Content-Type": "multipart/form-data; boundary=x"], 415),
        (["Sec-Fetch-Site": "same-origin"], 201),
        (["Origin": "HTTP://LOCALHOST:8080"], 201),
    ]) func `with a cookie change nothing if they come from another site`(
        fields: [String: String], status: Int
    ) async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let before = try await fixture.store.applications().count
        let reply = await fixture.send(
            .post, "apps", #"{"name":"shop"}"#, cookie: cookie, fields: fields)
        #expect(reply.status == status)
        let created = try await fixture.store.applications().count - before
        #expect(created == (status == 201 ? 1 : 0))
    }

    @Test(arguments: ["session", "apps", "apps?limit=x", "nothing", "apps/APP/users", "operators"])
    func `are answered with the headers that protect pages`(path: String) async throws {
        let fixture = try await ConsoleFixture()
        let app = try await fixture.store.createApplication(name: "shop").id
        let reply = await fixture.send(
            .get, path.replacing("APP", with: app.uuid), cookie: try await fixture.logIn())
        let fields = reply.response.fields
        #expect(fields["X-Frame-Options"] == "DENY")
        #expect(fields["Referrer-Policy"] == "no-referrer")
        #expect(fields["Cross-Origin-Opener-Policy"] == "same-origin")
        #expect(fields["Cross-Origin-Resource-Policy"] == "same-origin")
    }

    @Test func `name both hosts and the setting for proxies when the origin is another`()
        async throws
    {
        let fixture = try await ConsoleFixture([("public_url", "https://chat.example.com")])
        let cookie = try await fixture.logIn()
        let reply = await fixture.send(
            .post, "apps", #"{"name":"shop"}"#, cookie: cookie,
            fields: ["Origin": "https://evil.example"])
        let message = try #require(reply["message"]?.string)
        for text in ["localhost:8080", "https://chat.example.com", "http.trusted_proxies"] {
            #expect(message.contains(text), "\(message)")
        }
        let proxied = await fixture.send(
            .post, "apps", #"{"name":"shop"}"#, cookie: cookie,
            fields: ["Origin": "https://chat.example.com:443"])
        #expect(proxied.status == 201)
    }

    @Test func `for reading need nothing but the cookie`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        #expect(await fixture.send(.get, "apps", cookie: cookie).status == 200)
        #expect(
            await fixture.send(
                .get, "apps", cookie: cookie, fields: ["Sec-Fetch-Site": "cross-site"]
            ).status == 403)
        #expect(await fixture.send(.get, "apps").status == 401)
    }

    @Test func `have no headers for other origins`() async throws {
        let fixture = try await ConsoleFixture([("http.cors_origins", "https://shop.example")])
        let application = try await fixture.store.createApplication(name: "shop")
        let token = try await fixture.store.createToken(for: application.id, scope: .admin)
        for path in ["apps", "apps/\(application.id)/conversations", "session"] {
            for method in [HTTP.Method.get, .options] {
                let reply = await fixture.send(
                    method, path, token: token.secret, fields: ["Origin": "https://shop.example"])
                #expect(reply.status < 300, "\(path)")
                #expect(reply.response.fields["Access-Control-Allow-Origin"] == nil)
            }
        }
    }

    @Test func `are refused under the names of other sites`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        for host in ["evil.example", "localhost.evil.example:8080"] {
            let reply = await fixture.send(
                .get, "session", cookie: cookie, fields: ["Host": host])
            #expect(reply.status == 421)
            #expect(reply["message"]?.string?.contains("http.allowed_hosts") == true)
        }
    }

    @Test func `are limited to the allowed networks`() async throws {
        let fixture = try await ConsoleFixture([("console.allowed_networks", "10.0.0.0/8")])
        let reply = await fixture.send(.get, "session")
        #expect(reply.status == 403)
        #expect(reply["message"]?.string?.contains("console.allowed_networks") == true)
        let inside = await fixture.send(
            .get, "session", peer: .ipv4(0x0A00_0001, port: 1))
        #expect(inside.status == 401)
    }

    @Test func `do not exist without the console`() async throws {
        let fixture = try await ConsoleFixture([("console.enabled", "false")])
        #expect(await fixture.send(.get, "session").status == 404)
        #expect(await fixture.send(.post, "session", #"{"once":"x"}"#).status == 404)
    }

    @Test func `refuse unknown members and name unknown parameters`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let reply = await fixture.send(
            .post, "apps", #"{"name":"shop","color":"red"}"#, cookie: cookie)
        #expect(reply.status == 422)
        #expect(reply["data"]?["property"]?.string == "color")
        let list = await fixture.send(.get, "apps?limit=1&color=red", cookie: cookie)
        #expect(list.status == 200)
        #expect(list.response.fields["Parley-Ignored-Parameters"] == "color")
        let strict = await fixture.send(
            .get, "apps?color=red", cookie: cookie, fields: ["Prefer": "handling=strict"])
        #expect(strict.status == 422)
        for limit in ["0", "-1", "x", "", "1.5"] {
            #expect(
                await fixture.send(.get, "apps?limit=\(limit)", cookie: cookie).status == 422)
        }
    }

    @Test func `have a body of at most 64 KiB`() async throws {
        let fixture = try await ConsoleFixture()
        let application = try await fixture.store.createApplication(name: "shop")
        for path in ["session", "apps/\(application.id)/conversations"] {
            let request = Request(
                method: .post, target: RequestTarget("/console/api/\(path)"),
                fields: Fields([
                    ("Host", "localhost"), ("X-Parley-Console", "1"),
                    ("Content-Type", "application/json"),
                ]), framing: .chunked, peer: ConsoleFixture.local)
            guard case .work(let policy, _) = fixture.components.service.answer(to: request).outcome
            else {
                Issue.record("answered without reading the body")
                continue
            }
            #expect(policy.limit == 65_536, "\(path)")
        }
    }

    @Test func `to unknown paths and methods are 404 and 405`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        for path in ["", "nothing", "apps/x/nothing", "/console/api"] {
            #expect(await fixture.send(.get, path, cookie: cookie).status == 404, "\(path)")
        }
        let reply = await fixture.send(.put, "apps", "{}", cookie: cookie)
        #expect(reply.status == 405)
        #expect(reply.response.fields["Allow"] == "GET, HEAD, POST, OPTIONS")
    }
}
