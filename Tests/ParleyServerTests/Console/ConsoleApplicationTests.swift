import Console
import HTTP
import JSON
import Messaging
import MessagingStore
import SQL
import SQLPostgres
import TestSupport
import Testing

@testable import ParleyServer

@Suite struct `Roles in the console` {
    /// A request, and the least role of an operator and of a token that may send it; `nil` for none.
    struct RoleCase: Sendable {
        let method: HTTP.Method
        let path: String
        let body: String?
        let ofOperator: Token.Scope
        let ofToken: Token.Scope?
    }

    static let cases = [
        RoleCase(method: .get, path: "session", body: nil, ofOperator: .read, ofToken: .read),
        RoleCase(method: .get, path: "sessions", body: nil, ofOperator: .admin, ofToken: nil),
        RoleCase(method: .get, path: "operators", body: nil, ofOperator: .admin, ofToken: nil),
        RoleCase(method: .get, path: "apps", body: nil, ofOperator: .read, ofToken: .read),
        RoleCase(
            method: .post, path: "apps", body: #"{"name":"x"}"#, ofOperator: .admin, ofToken: nil),
        RoleCase(
            method: .patch, path: "apps/{app}", body: #"{"name":"x"}"#, ofOperator: .admin,
            ofToken: nil),
        RoleCase(
            method: .get, path: "apps/{app}/tokens", body: nil, ofOperator: .admin, ofToken: .admin),
        RoleCase(
            method: .get, path: "apps/{app}/conversations", body: nil, ofOperator: .read,
            ofToken: .read),
        RoleCase(
            method: .post, path: "apps/{app}/conversations",
            body: #"{"participants":["layer:///identities/ana"]}"#, ofOperator: .write,
            ofToken: .write),
        RoleCase(
            method: .post, path: "apps/{app}/webhooks", body: "{}", ofOperator: .admin,
            ofToken: .admin),
        RoleCase(
            method: .post,
            path: "apps/{app}/webhooks/00000000-0000-4000-8000-000000000000/test", body: "{}",
            ofOperator: .write, ofToken: .write),
        RoleCase(
            method: .patch, path: "apps/{app}/users/ana",
            body: #"[{"operation":"set","property":"suspended","value":false}]"#,
            ofOperator: .admin, ofToken: .admin),
        RoleCase(
            method: .get, path: "apps/{app}/export", body: nil, ofOperator: .admin, ofToken: .admin),
        RoleCase(method: .get, path: "processes", body: nil, ofOperator: .read, ofToken: nil),
        RoleCase(method: .get, path: "storage", body: nil, ofOperator: .read, ofToken: nil),
        RoleCase(method: .get, path: "jobs", body: nil, ofOperator: .admin, ofToken: .admin),
        RoleCase(
            method: .post, path: "jobs?kind=export&app={app}", body: nil, ofOperator: .admin,
            ofToken: .admin),
        RoleCase(
            method: .post, path: "jobs?kind=backup", body: nil, ofOperator: .admin, ofToken: nil),
    ]

    @Test(arguments: cases) func `are checked by the server`(role: RoleCase) async throws {
        let fixture = try await ConsoleFixture()
        let application = try await fixture.store.createApplication(name: "shop")
        let path = role.path.replacing("{app}", with: application.id.uuid)
        for scope in Token.Scope.allCases {
            let cookie = try await fixture.logIn("of-\(scope)", role: scope)
            let reply = await fixture.send(role.method, path, role.body, cookie: cookie)
            #expect((reply.status == 403) == (scope < role.ofOperator), "\(scope) \(reply.text)")
            let token = try await fixture.store.createToken(for: application.id, scope: scope)
            let other = await fixture.send(role.method, path, role.body, token: token.secret)
            let isAllowed = role.ofToken.map { least in scope >= least } ?? false
            #expect((other.status == 403) == !isAllowed, "\(scope) \(other.text)")
        }
    }

    @Test func `of a token end at its application`() async throws {
        let fixture = try await ConsoleFixture()
        let mine = try await fixture.store.createApplication(name: "mine")
        let other = try await fixture.store.createApplication(name: "other")
        let token = try await fixture.store.createToken(for: mine.id, scope: .admin)
        let login = await fixture.send(.post, "session", #"{"token":"\#(token.secret)"}"#)
        for path in ["apps/\(other.id)/tokens", "apps/\(other.id)/conversations"] {
            #expect(await fixture.send(.get, path, token: token.secret).status == 403)
            #expect(await fixture.send(.get, path, cookie: login.cookie).status == 403)
        }
        let list = try #require(await fixture.send(.get, "apps", cookie: login.cookie).json)
        #expect(list.elements.map { $0["id"]?.string } == [mine.id.uuid])
    }

    @Test func `use the token in Authorization instead of the cookie`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let application = try await fixture.store.createApplication(name: "shop")
        let token = try await fixture.store.createToken(for: application.id, scope: .read)
        let reply = await fixture.send(
            .get, "session", cookie: cookie, token: token.secret)
        #expect(reply["app"]?.string == application.id.uuid)
        #expect(reply["id"]?.isNull == true)
        #expect(
            await fixture.send(.get, "session", cookie: cookie, token: "wrong").status == 401)
        // No header of a page is needed, because no page of another site can send this one.
        let write = try await fixture.store.createToken(for: application.id, scope: .write)
        let created = await fixture.send(
            .post, "apps/\(application.id)/conversations",
            #"{"participants":["layer:///identities/ana"]}"#, token: write.secret,
            fields: ["X-Parley-Console": "", "Origin": ""])
        #expect(created.status == 201)
    }
}

@Suite struct `Applications in the console` {
    @Test func `are created, renamed, suspended and listed with their counters`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let created = await fixture.send(.post, "apps", #"{"name":"shop"}"#, cookie: cookie)
        #expect(created.status == 201)
        let id = try #require(created["id"]?.string)
        let conversation = await fixture.send(
            .post, "apps/\(id)/conversations",
            #"{"participants":["layer:///identities/ana","layer:///identities/bo"]}"#,
            cookie: cookie)
        let path = try #require(
            conversation["id"]?.string?.split(separator: "/").last.map {
                "apps/\(id)/conversations/\($0)"
            })
        var messages: [String] = []
        for text in ["one", "two", "three"] {
            let sent = await fixture.send(
                .post, "\(path)/messages",
                #"{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#,
                cookie: cookie)
            #expect(sent.status == 201, "\(sent.text)")
            messages += [sent["id"]?.string?.split(separator: "/").last.map(String.init) ?? ""]
        }
        func counters() async -> [Int64?] {
            let list = await fixture.send(.get, "apps", cookie: cookie)
            let all = list.json?.elements.map { $0 } ?? []
            let mine = all.first { $0["id"]?.string == id }
            return ["users", "conversations", "messages", "content_bytes"]
                .map { mine?[$0]?.integer }
        }
        #expect(await counters() == [2, 1, 3, 0])
        let deleted = await fixture.send(
            .delete, "\(path)/messages/\(messages[0])", cookie: cookie)
        #expect(deleted.status == 204)
        #expect(await counters() == [2, 1, 2, 0])
        #expect(await fixture.send(.delete, path, cookie: cookie).status == 204)
        #expect(await counters() == [2, 0, 0, 0])
        let change = #"{"name":"market","suspended":true}"#
        #expect(await fixture.send(.patch, "apps/\(id)", change, cookie: cookie).status == 204)
        let application = try #require(
            try await fixture.store.applications().first { $0.id.uuid == id })
        #expect(application.name == "market")
        #expect(application.isSuspended)
        #expect(
            try await fixture.events().suffix(3) == [
                .applicationCreated, .applicationRenamed, .applicationSuspended,
            ])
        let log = try await fixture.store.events(
            after: .start, limit: 100, in: application.id)
        #expect(log.last?.actor == .named("console:admin"))
        #expect(log.first?.actor == .named("console:admin"))
    }

    @Test func `are listed in pages`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        for index in 0..<5 { _ = try await fixture.store.createApplication(name: "\(index)") }
        var (names, after) = ([String](), "")
        while true {
            let list = await fixture.send(.get, "apps?limit=2\(after)", cookie: cookie)
            let page = try #require(list.json).elements.map { $0 }
            guard let last = page.last?["id"]?.string else { break }
            names += page.compactMap { $0["name"]?.string }
            after = "&after=\(last)"
        }
        #expect(names.sorted() == ["0", "1", "2", "3", "4"])
        #expect(await fixture.send(.get, "apps?after=x", cookie: cookie).status == 422)
    }

    @Test func `have tokens whose secret is shown once`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let application = try await fixture.store.createApplication(name: "shop")
        let path = "apps/\(application.id)/tokens"
        let created = await fixture.send(
            .post, path,
            #"{"name":"build","scope":"write","expires_at":"2999-01-31T00:00:00Z"}"#,
            cookie: cookie)
        #expect(created.status == 201)
        let secret = try #require(created["token"]?.string)
        let list = await fixture.send(.get, path, cookie: cookie)
        #expect(!list.text.contains(secret))
        let token = try #require(list.json?.elements.first { _ in true })
        #expect(token["name"]?.string == "build")
        #expect(token["scope"]?.string == "write")
        #expect(token["expires_at"]?.string == "2999-01-31T00:00:00.000Z")
        #expect(token["token"] == nil)
        let id = try #require(token["id"]?.string)
        #expect(try await fixture.store.authenticate(secret.utf8) != nil)
        #expect(await fixture.send(.delete, "\(path)/\(id)", cookie: cookie).status == 204)
        #expect(try await fixture.store.authenticate(secret.utf8) == nil)
        #expect(await fixture.send(.delete, "\(path)/x", cookie: cookie).status == 404)
        for body in [
            "{}", #"{"scope":"all"}"#, #"{"scope":"read","expires_at":"2001-01-01T00:00:00Z"}"#,
            #"{"scope":"read","expires_at":"soon"}"#, #"{"scope":"read","name":5}"#,
        ] {
            #expect(await fixture.send(.post, path, body, cookie: cookie).status == 422)
        }
        #expect(try await fixture.events().suffix(2) == [.tokenCreated, .tokenRevoked])
    }

    @Test func `that do not exist are 404`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        for id in ["00000000-0000-4000-8000-000000000000", "x"] {
            for path in ["tokens", "conversations", "events"] {
                let reply = await fixture.send(.get, "apps/\(id)/\(path)", cookie: cookie)
                #expect(reply.status == 404, "\(path)")
            }
            #expect(
                await fixture.send(.patch, "apps/\(id)", "{}", cookie: cookie).status == 404)
        }
    }
}

@Suite struct `The Platform API in the console` {
    /// A conversation with a message, and the path to its messages below the application.
    private static func prepare(
        _ fixture: ConsoleFixture, _ cookie: String
    ) async throws -> (application: Application.ID, messages: String) {
        let application = try await fixture.store.createApplication(name: "shop").id
        let created = await fixture.send(
            .post, "apps/\(application)/conversations",
            #"{"participants":["layer:///identities/ana","layer:///identities/bo"],"metadata":{"body":"kept"}}"#,
            cookie: cookie)
        let id = try #require(created["id"]?.string?.split(separator: "/").last)
        let messages = "apps/\(application)/conversations/\(id)/messages"
        let sent = await fixture.send(
            .post, messages,
            #"{"sender_id":"layer:///identities/ana","parts":[{"mime_type":"text/plain","body":"under the mat"}],"notification":{"text":"under the rug"}}"#,
            cookie: cookie)
        #expect(sent.status == 201)
        return (application, messages)
    }

    @Test func `is that of version 3.0, and its log names the operator`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let (application, messages) = try await Self.prepare(fixture, cookie)
        let reply = await fixture.send(
            .get, messages, cookie: cookie,
            fields: ["Accept": "application/vnd.layer+json; version=1.0"])
        #expect(reply.status == 200)
        #expect(reply.response.fields["Parley-Version"] == "3.0")
        let log = try await fixture.store.events(after: .start, limit: 10, in: application)
        let created = try #require(log.first { $0.event.type == .conversationCreated })
        #expect(created.actor == .named("console:admin"))
        let events = await fixture.send(
            .get, "apps/\(application)/events", cookie: cookie)
        #expect(events.text.contains(#""actor":{"name":"console:admin"}"#))
    }

    @Test func `records once that a session reads the messages of a conversation`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let (application, messages) = try await Self.prepare(fixture, cookie)
        func views() async throws -> [AuditEvent] {
            try await fixture.store.auditEvents(AuditQuery()).events
                .filter { event in event.type == .contentViewed }
        }
        #expect(try await views().isEmpty)
        for _ in 0..<2 { _ = await fixture.send(.get, messages, cookie: cookie) }
        let found = try await views()
        #expect(found.count == 1)
        #expect(found.first?.application == application)
        #expect(messages.contains(found.first?.subject ?? "none"))
        _ = await fixture.send(.get, messages, cookie: try await fixture.logIn("bo"))
        #expect(try await views().map(\.origin.actor) == ["admin", "bo"])
    }

    @Test(arguments: [
        ("messages/{M}", true), ("users/conversations/conversations/{C}/messages", true),
        ("users/ana/conversations/{C}", true), ("users/ana/conversations", false),
        ("events", false), ("export", false),
    ]) func `records that a session reads contents, whatever the path`(
        path: String, namesConversation: Bool
    ) async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let (application, messages) = try await Self.prepare(fixture, cookie)
        let conversation = messages.split(separator: "/").dropLast().last.map(String.init)
        let participants =
            #"[{"operation":"add","property":"participants","id":"layer:///identities/conversations"}]"#
        let added = await fixture.send(
            .patch, "apps/\(application)/conversations/\(conversation ?? "")", participants,
            cookie: cookie, fields: ["Content-Type": "application/vnd.layer-patch+json"])
        #expect(added.status == 204)
        let message = try await fixture.store.messages(
            in: #require(conversation.flatMap { Conversation.ID(uuid: $0) }), limit: 1,
            in: application
        ).items.first?.message.id.uuid
        let target = path.replacing("{C}", with: conversation ?? "")
            .replacing("{M}", with: message ?? "")
        let read = await fixture.send(.get, "apps/\(application)/\(target)", cookie: cookie)
        #expect(read.status == 200)
        let views = try await fixture.store.auditEvents(AuditQuery()).events
            .filter { event in event.type == .contentViewed }
        #expect(views.map(\.subject) == [namesConversation ? conversation : nil])
        #expect(views.map(\.application) == [application])
    }

    @Test func `lists uploads`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let (application, messages) = try await Self.prepare(fixture, cookie)
        var ids: [String] = []
        for size in [5, 6] {
            let created = await fixture.send(
                .post, messages.replacing("/messages", with: "/content"), cookie: cookie,
                fields: [
                    "Upload-Content-Type": "text/plain", "Upload-Content-Length": "\(size)",
                ])
            let id = try #require(created["id"]?.string?.split(separator: "/").last)
            ids.append(String(id))
        }
        ids.sort(by: >)
        let first = await fixture.send(
            .get, "uploads?app=\(application)&limit=1", cookie: cookie)
        #expect(first.text.contains(#"[{"id":"\#(ids[0])","app":"\#(application)","#))
        #expect(first.text.contains(#""protocol":"api","state":"created","failure":null,"size":"#))
        #expect(first.text.contains(#","offset":0,"rate":null,"progress_at":"#))
        let second = await fixture.send(.get, "uploads?after=\(ids[0])", cookie: cookie)
        #expect(second.text.contains(ids[1]) && !second.text.contains(ids[0]))
        for (query, text) in [
            ("state=complete", "[]"), ("app=00000000-0000-4000-8000-000000000007", "[]"),
            ("state=x", "`state` must be one of `open`"), ("app=x", "`app` must be"),
            ("after=x", "`after` must be"), ("limit=0", "`limit` must be"),
        ] {
            let reply = await fixture.send(.get, "uploads?\(query)", cookie: cookie)
            #expect(reply.text.contains(text), "\(query)")
        }
    }

    @Test func `cancels an upload, and records that`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let (application, messages) = try await Self.prepare(fixture, cookie)
        let created = await fixture.send(
            .post, messages.replacing("/messages", with: "/content"), cookie: cookie,
            fields: ["Upload-Content-Type": "text/plain", "Upload-Content-Length": "5"])
        let id = try #require(created["id"]?.string?.split(separator: "/").last)
        #expect(await fixture.send(.delete, "uploads/\(id)", cookie: cookie).status == 204)
        let last = try await fixture.store.auditEvents(AuditQuery()).events.last
        #expect(last?.type == .uploadCancelled)
        #expect(last?.subject == String(id) && last?.application == application)
        #expect(await fixture.send(.delete, "uploads/\(id)", cookie: cookie).status == 410)
        #expect(await fixture.send(.delete, "uploads/x", cookie: cookie).status == 404)
    }

    @Test func `takes a patch of the application for the Platform API`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let application = try await fixture.store.createApplication(name: "shop")
        let patched = await fixture.send(
            .patch, "apps/\(application.id)",
            #"[{"operation":"set","property":"session_ttl_in_seconds","value":3600}]"#,
            cookie: cookie, fields: ["Content-Type": "application/vnd.layer-patch+json"])
        #expect(patched.status == 202, "\(patched.text)")
    }

    @Test func `hides contents with console.show_content false`() async throws {
        let fixture = try await ConsoleFixture([("console.show_content", "false")])
        let cookie = try await fixture.logIn()
        let (application, messages) = try await Self.prepare(fixture, cookie)
        let token = try await fixture.store.createToken(for: application, scope: .admin)
        for path in [
            messages, "apps/\(application)/events",
            "apps/\(application)/users/ana/conversations",
        ] {
            for reply in [
                await fixture.send(.get, path, cookie: cookie),
                await fixture.send(.get, path, token: token.secret),
            ] {
                #expect(reply.status == 200, "\(path)")
                #expect(!reply.text.contains("under the"), "\(path)")
                #expect(reply.text.contains(#""body":"[hidden]""#), "\(path)")
            }
        }
        let events = await fixture.send(.get, "apps/\(application)/events", cookie: cookie)
        #expect(events.text.contains(#"{"body":"kept"}"#), "metadata is no content")
        let export = await fixture.send(.get, "apps/\(application)/export", cookie: cookie)
        #expect(export.status == 403)
        let plain = await fixture.send(
            .get, "/\(messages)", token: token.secret,
            fields: ["Accept": "application/vnd.layer+json; version=3.0"])
        #expect(plain.text.contains("under the mat"), "the public API is not affected")
    }
}

@Suite struct `The console of several processes` {
    @Test func `shows all of them, the answering one first`() async throws {
        let url = PostgresServer.shared.newSchema()
        let first = try await ConsoleFixture([("database.url", url)])
        let second = try await ConsoleFixture([("database.url", url)])
        let (one, two) = (first.components, second.components)
        defer {
            one.close()
            two.close()
        }
        one.processReporter.start()
        two.processReporter.start()
        let cookie = try await first.logIn()
        var listed: [JSONValue] = []
        for _ in 0..<6000 where listed.count < 2 {
            try await Task.sleep(for: .milliseconds(20))
            listed =
                await first.send(.get, "processes", cookie: cookie).json?.elements.map(\.self) ?? []
        }
        #expect(
            listed.map { $0["id"]?.string } == [first.store.process, second.store.process])
        for process in listed {
            #expect(process["version"]?.string == Release.version)
            #expect(process["started_at"]?.string != nil)
            #expect(process["last_seen_at"]?.string != nil)
            #expect(process["leases"]?.kind == .array)
            #expect(process["stats"]?.kind == .object)
        }
        await two.processReporter.stop()
        let rest = await first.send(.get, "processes", cookie: cookie)
        #expect(rest.json?.elements.map { $0["id"]?.string } == [first.store.process])
        await one.processReporter.stop()
    }
}

@Suite struct `Sessions of the console in two processes` {
    @Test func `end in both within a second`() async throws {
        let url = PostgresServer.shared.newSchema()
        let first = try await ConsoleFixture([("database.url", url)])
        let second = try await ConsoleFixture([("database.url", url)])
        defer {
            first.components.close()
            second.components.close()
        }
        /// Ends a session in the first process, and returns the status of a request to the second one a second later.
        func end(
            _ cookie: String, _ change: () async throws -> Void
        ) async throws -> Int {
            #expect(await first.send(.get, "session", cookie: cookie).status == 200)
            #expect(await second.send(.get, "session", cookie: cookie).status == 200)
            try await change()
            #expect(await first.send(.get, "session", cookie: cookie).status == 401)
            // A session is cached for one second.
            try await Task.sleep(for: .milliseconds(1050))
            return await second.send(.get, "session", cookie: cookie).status
        }
        let logout = try await first.logIn()
        let removed = try await first.logIn("bo")
        let changed = try await first.logIn("cy")
        let application = try await first.store.createApplication(name: "shop").id
        let token = try await first.store.createToken(for: application, scope: .admin)
        let revoked = await first.send(.post, "session", #"{"token":"\#(token.secret)"}"#).cookie
        let statuses = [
            try await end(logout) { _ = await first.send(.delete, "session", cookie: logout) },
            try await end(removed) {
                _ = try await first.store.removeOperator("bo", from: .command)
            },
            try await end(changed) { try await first.makeOperator("cy") },
            try await end(revoked) {
                try await first.store.revokeToken(token.token.id, of: application)
            },
        ]
        #expect(statuses == [401, 401, 401, 401])
        let types = try await second.events()
        #expect(types.contains(.operatorLoggedOut) && types.contains(.operatorRemoved))
        let positions = try await second.store.auditEvents(AuditQuery()).events
            .map(\.position.number)
        #expect(positions == Array(1...Int64(positions.count)))
    }
}
