import Console
import HTTP
import JSON
import Messaging
import MessagingStore
import Testing

@testable import ParleyServer

@Suite struct `The settings in the console` {
    @Test func `are listed with their source, and secrets only as set`() async throws {
        let fixture = try await ConsoleFixture([
            ("metrics.token", "a-token-for-the-metrics"), ("api.rate_limit", "7"),
        ])
        fixture.components.shownSettings.note(
            SettingsReader(
                SettingsSources(
                    flags: [
                        SettingsSources.Flag("api.rate_limit", "7", name: "--set"),
                        SettingsSources.Flag("http.loops", "3", name: "--set"),
                        SettingsSources.Flag(
                            "metrics.token", "a-token-for-the-metrics", name: "--set"),
                    ])), running: fixture.server.settings)
        let reply = await fixture.send(
            .get, "settings", cookie: try await fixture.logIn())
        #expect(reply.status == 200)
        #expect(!reply.text.contains("a-token-for-the-metrics"))
        let settings = try #require(reply.json).elements.map { $0 }
        #expect(settings.count == Settings.table.count)
        func setting(_ name: String) -> JSONValue? {
            settings.first { $0["name"]?.string == name }
        }
        let rate = setting("api.rate_limit")
        #expect(rate?["value"]?.string == "7")
        #expect(rate?["source"]?.string == "flag")
        #expect(rate?["from"]?.string == "--set")
        #expect(rate?["restart"]?.bool == false)
        #expect(rate?["pending"]?.isNull == true)
        let loops = setting("http.loops")
        #expect(loops?["value"]?.string == "")
        #expect(loops?["pending"]?.string == "3")
        #expect(loops?["restart"]?.bool == true)
        let token = setting("metrics.token")
        #expect(token?["value"]?.isNull == true)
        #expect(token?["set"]?.bool == true)
        #expect(setting("docs.enabled")?["source"]?.string == "default")
        #expect(try await fixture.events().last == .settingsViewed)
    }
}

@Suite struct `The log of the server` {
    @Test func `is read in both orders, by type and by time`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        for name in ["a", "b", "c"] {
            _ = await fixture.send(.post, "apps", #"{"name":"\#(name)"}"#, cookie: cookie)
        }
        func read(_ query: String) async -> (types: [String?], next: Int64?, scanned: Int64?) {
            let reply = await fixture.send(.get, "events\(query)", cookie: cookie)
            let events = reply["events"]?.elements.map { $0["type"]?.string } ?? []
            return (events, reply["next"]?.integer, reply["scanned"]?.integer)
        }
        let all = [
            "link.created", "link.used", "operator.logged_in", "application.created",
            "application.created", "application.created",
        ]
        #expect(await read("").types == all)
        #expect(await read("?order=desc&limit=2").types == Array(all.reversed().prefix(2)))
        let first = await read("?limit=2")
        #expect(first.next == 2)
        #expect(await read("?after=2").types == Array(all.dropFirst(2)))
        #expect(await read("?before=3").types == ["link.used", "link.created"])
        let rare = await read("?types=link.used,operator.removed")
        #expect(rare.types == ["link.used"])
        #expect(rare.next == 6)
        #expect(rare.scanned == 6)
        #expect(await read("?types=operator.removed&order=desc").types == [])
        #expect(await read("?at=2999-01-01T00:00:00Z").types == [])
        #expect(await read("?at=2999-01-01T00:00:00Z&order=desc").types == all.reversed())
        #expect(await read("?at=2001-01-01T00:00:00Z").types == all)
        let text = await fixture.send(.get, "events?include=text&limit=1", cookie: cookie)
        #expect(text.text.contains("Access: A command created a link for operator admin."))
        for query in [
            "?order=up", "?limit=0", "?after=x", "?before=1&order=asc", "?after=1&order=desc",
            "?at=soon", "?at=2001-01-01T00:00:00Z&after=1", "?types=none", "?include=all",
            "?after=99999",
        ] {
            #expect(
                await fixture.send(.get, "events\(query)", cookie: cookie).status == 422,
                "\(query)")
        }
    }

    @Test func `is trimmed after its time, without gaps`() async throws {
        let fixture = try await ConsoleFixture()
        for _ in 0..<3 {
            try await fixture.store.recordAuditEvent(.settingsViewed, from: .command)
        }
        try await fixture.store.trimAuditLog(before: Timestamp(milliseconds: .max))
        try await fixture.store.recordAuditEvent(.settingsViewed, from: .command)
        let page = try await fixture.store.auditEvents(AuditQuery())
        #expect(page.events.map(\.position.number) == [4])
        var query = AuditQuery()
        query.order = .ascending(after: LogPosition(1))
        await #expect(throws: Rejection.positionGone(oldest: LogPosition(4))) {
            try await fixture.store.auditEvents(query)
        }
    }
}

@Suite struct `The statistics of a server` {
    @Test func `have every series for an hour and a day`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn("reader", role: .read)
        for (range, step) in [("hour", Int64(10)), ("day", 300)] {
            let reply = await fixture.send(.get, "stats?range=\(range)", cookie: cookie)
            #expect(reply.status == 200)
            #expect(reply["step_s"]?.integer == step)
            #expect(reply["series"]?["send_p95"]?.kind == .array)
            #expect(reply["series"]?["requests"]?.kind == .array)
        }
        #expect(await fixture.send(.get, "stats?range=year", cookie: cookie).status == 422)
        let stream = await fixture.send(.get, "stream", cookie: cookie)
        #expect(stream.response.fields["Content-Type"] == "text/event-stream; charset=utf-8")
    }

    @Test func `count commits, memory and the disk`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.store.createApplication(name: "shop")
        let counters = await fixture.components.metrics.counters(folder: fixture.server.path)
        #expect((counters.totals[.commits] ?? 0) > 0)
        #expect((counters.gauges[.memory] ?? 0) > 1_000_000)
        #expect((0.0...1.0).contains(counters.gauges[.diskUsed] ?? -1))
        #expect((counters.gauges[.database] ?? 0) > 4096)
        #expect(counters.commit?.counts.reduce(0, +) ?? 0 > 0)
    }

    @Test func `have at most twenty streams`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        var streams: [ConsoleReply] = []
        for _ in 0..<20 {
            streams.append(await fixture.send(.get, "stream", cookie: cookie))
        }
        #expect(streams.allSatisfy { $0.status == 200 })
        let refused = await fixture.send(.get, "stream", cookie: cookie)
        #expect(refused.status == 429)
        #expect(refused.response.fields["Retry-After"] != nil)
    }
}

@Suite struct `The processes and the storage in the console` {
    @Test func `show one process of a database file`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn("reader", role: .read)
        let reply = await fixture.send(.get, "processes", cookie: cookie)
        #expect(reply.status == 200, "\(reply.text)")
        let listed = try #require(reply.json).elements.map(\.self)
        #expect(listed.map { $0["id"]?.string } == [fixture.store.process])
        #expect(listed[0]["version"]?.string == Release.version)
        #expect(listed[0]["leases"]?.count == 0)
    }

    @Test func `show the volume, the quota and what each application uses`() async throws {
        let fixture = try await ConsoleFixture([
            ("uploads.application_quota", "1GiB"), ("uploads.max_upload_size", "1GiB"),
            ("uploads.disk_headroom", "5MiB"),
        ])
        let cookie = try await fixture.logIn("reader", role: .read)
        let shop = try await fixture.store.createApplication(name: "shop").id
        let other = try await fixture.store.createApplication(name: "other").id
        let reply = await fixture.send(.get, "storage", cookie: cookie)
        #expect(reply.status == 200, "\(reply.text)")
        let total = try #require(reply["volume"]?["total"]?.integer)
        let free = try #require(reply["volume"]?["free"]?.integer)
        #expect(0 < free && free <= total)
        #expect(reply["headroom"]?.integer == 5 << 20)
        #expect(reply["quota"]?.integer == 1 << 30)
        #expect(reply["contents"]?.integer == 0)
        #expect(reply["reserved"]?.integer == 0)
        let listed = reply["applications"]?.elements.map { $0["id"]?.string } ?? []
        #expect(Set(listed) == [shop.uuid, other.uuid])
        let one = await fixture.send(.get, "storage?app=\(other)", cookie: cookie)
        #expect(one["applications"]?.elements.map { $0["name"]?.string } == ["other"])
        // The sweeper has run at the start, and found nothing.
        var sweep = reply["sweep"]
        for _ in 0..<6000 where sweep?["orphans"] == nil {
            try await Task.sleep(for: .milliseconds(20))
            sweep = await fixture.send(.get, "storage", cookie: cookie)["sweep"]
        }
        #expect(sweep?["orphans"]?.integer == 0)
        #expect(sweep?["at"]?.string != nil)
        #expect(await fixture.send(.get, "storage?app=x", cookie: cookie).status == 422)
    }
}

@Suite struct `The addresses of the console` {
    @Test func `alone serve it, and nothing else`() async throws {
        let server = TestServer([("console.listen", "127.0.0.1:0")])
        let components = try await server.components()
        let console = try #require(components.consoleService)
        let fields = [("Host", "localhost")]
        for path in ["/console", "/console/audit", "/console/api/session"] {
            #expect(
                await components.service.response(to: .get, path, fields: fields).status.code
                    == 404, "\(path)")
            #expect(
                await console.response(to: .get, path, fields: fields).status.code != 404,
                "\(path)")
        }
        for path in ["/docs", "/openapi.json", "/health/ready"] {
            #expect(
                await console.response(to: .get, path, fields: fields).status.code == 200,
                "\(path)")
        }
        let id = "00000000-0000-4000-8000-000000000000"
        for path in [
            "/", "/demo", "/apps/\(id)/users", "/uploads/x", "/download/\(id)/x", "/nonces",
        ] {
            #expect(
                await console.response(to: .get, path, fields: fields).status.code == 404,
                "\(path)")
        }
        #expect(
            await console.response(to: .post, "/nonces", fields: fields).status.code == 404)
        let elsewhere = [("Host", "evil.example")]
        #expect(
            await console.response(to: .get, "/console", fields: elsewhere).status.code == 421)
        #expect(server.settings.contentOrigins.count == 1)
        components.close()
    }

    @Test func `make a session name the base of the API`() async throws {
        let own = try await ConsoleFixture([
            ("console.listen", "127.0.0.1:0"), ("public_url", "https://chat.example.com"),
        ])
        let session = await own.send(.get, "session", cookie: try await own.logIn())
        #expect(session["server"]?["api"]?.string == "https://chat.example.com")
        let shared = try await ConsoleFixture([("public_url", "https://chat.example.com")])
        let other = await shared.send(.get, "session", cookie: try await shared.logIn())
        #expect(other["server"]?["api"]?.isNull == true)
    }

    @Test func `must not be those of other listeners`() {
        let reader = SettingsReader(
            SettingsSources(
                flags: [
                    SettingsSources.Flag("http.listen", "0.0.0.0:8080", name: "test"),
                    SettingsSources.Flag("console.listen", "127.0.0.1:8080", name: "test"),
                ]))
        #expect(reader.errors.contains { "\($0)".contains("must not share an address") })
    }
}

@Suite struct `The check of a webhook's signature` {
    @Test func `answers without the secret`() async throws {
        let fixture = try await ConsoleFixture([("webhooks.allowed_networks", "127.0.0.0/8")])
        let cookie = try await fixture.logIn()
        let application = try await fixture.store.createApplication(name: "shop").id
        let path = "apps/\(application)/webhooks"
        let created = await fixture.send(
            .post, path,
            #"{"version":"3.0","target_url":"https://127.0.0.1:9/x","events":["Message.created"],"secret":"the secret itself"}"#,
            cookie: cookie)
        #expect(created.status == 201, "\(created.text)")
        let id = try #require(created["id"]?.string?.split(separator: "/").last)
        let check = "\(path)/\(id)/check_signature"
        let reply = await fixture.send(
            .post, check, #"{"headers":{"layer-webhook-signature":"00"},"body":"{}"}"#,
            cookie: cookie)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply["layer"]?.string == "mismatch")
        #expect(reply["standard"]?.string == "missing")
        #expect(!reply.text.contains("the secret itself"))
        for body in ["{}", #"{"headers":[],"body":""}"#, #"{"headers":{"a":1},"body":""}"#] {
            #expect(await fixture.send(.post, check, body, cookie: cookie).status == 422)
        }
        let unknown = "\(path)/00000000-0000-4000-8000-000000000000/check_signature"
        let body = #"{"headers":{},"body":""}"#
        #expect(await fixture.send(.post, unknown, body, cookie: cookie).status == 404)
    }
}
