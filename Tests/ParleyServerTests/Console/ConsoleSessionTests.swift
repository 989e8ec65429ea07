import Console
import HTTP
import JSON
import Messaging
import MessagingStore
import Testing

@testable import ParleyServer

@Suite struct `A link to the console` {
    @Test func `logs in once and creates an operator without a password`() async throws {
        let fixture = try await ConsoleFixture()
        let link = try await fixture.store.createLink(
            for: "admin", lifetime: 60_000, from: .command)
        let reply = await fixture.send(.post, "session", #"{"once":"\#(link)"}"#)
        #expect(reply.status == 200)
        #expect(reply["name"]?.string == "admin")
        #expect(reply["role"]?.string == "admin")
        #expect(reply["app"]?.isNull == true)
        #expect(reply["has_password"]?.bool == false)
        #expect(reply["server"]?["version"]?.string == Release.version)
        let again = await fixture.send(.post, "session", #"{"once":"\#(link)"}"#)
        #expect(again.status == 401)
        #expect(again.setCookie.isEmpty)
        #expect(
            try await fixture.events() == [
                .linkCreated, .linkUsed, .operatorLoggedIn, .operatorLoginFailed,
            ])
    }

    @Test func `is not valid after its time`() async throws {
        let fixture = try await ConsoleFixture()
        let link = try await fixture.store.createLink(for: "admin", lifetime: 0, from: .command)
        #expect(await fixture.send(.post, "session", #"{"once":"\#(link)"}"#).status == 401)
        #expect(try await fixture.store.operators().isEmpty)
    }

    @Test func `is used by one of two requests at the same time`() async throws {
        let fixture = try await ConsoleFixture()
        let link = try await fixture.store.createLink(
            for: "admin", lifetime: 60_000, from: .command)
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await fixture.send(.post, "session", #"{"once":"\#(link)"}"#).status
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200, 401, 401, 401, 401, 401, 401, 401])
    }

    @Test func `works while logins by password are refused`() async throws {
        let fixture = try await ConsoleFixture()
        for _ in 0..<6 {
            _ = await fixture.send(.post, "session", #"{"name":"x","password":"wrong"}"#)
        }
        #expect(try await !fixture.logIn().isEmpty)
    }

    @Test func `may be tried ten times a second`() async throws {
        let fixture = try await ConsoleFixture()
        var statuses: [Int] = []
        // A busy machine may send fewer a second for a while.
        while statuses.count < 3000, statuses.last != 429 {
            statuses.append(await fixture.send(.post, "session", #"{"once":"guess"}"#).status)
        }
        #expect(statuses.prefix(10).allSatisfy { $0 == 401 })
        #expect(statuses.last == 429)
    }
}

@Suite struct `A login to the console` {
    private static let right = #"{"name":"admin","password":"correct horse battery"}"#

    @Test func `needs the password of the operator`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.makeOperator()
        let reply = await fixture.send(.post, "session", Self.right)
        #expect(reply.status == 200)
        #expect(reply["has_password"]?.bool == true)
        let wrong = await fixture.send(
            .post, "session", #"{"name":"admin","password":"correct horse batterx"}"#)
        let unknown = await fixture.send(
            .post, "session", #"{"name":"unknown","password":"correct horse battery"}"#)
        #expect(wrong.status == 401)
        #expect(unknown.text == wrong.text)
    }

    @Test func `is refused after five failures of its address, even with the right password`()
        async throws
    {
        var fixture = try await ConsoleFixture()
        var reply = try await Self.replyAfterFiveFailures(fixture)
        while reply == nil {
            fixture = try await ConsoleFixture()
            reply = try await Self.replyAfterFiveFailures(fixture)
        }
        let refused = try #require(reply)
        #expect(refused.status == 429)
        let wait = try #require(refused.response.fields["Retry-After"].flatMap { Int($0) })
        #expect((1...30).contains(wait))
        let other = PeerAddress.ipv4(0x7F00_0002, port: 1)
        #expect(await fixture.send(.post, "session", Self.right, peer: other).status == 200)
        let failures = try await fixture.store.auditEvents(AuditQuery()).events
            .filter { event in event.type == .operatorLoginFailed }
        #expect(failures.map(\.count) == [1], "the others are recorded after a minute")
        #expect(failures.first?.subject == "admin")
    }

    @Test func `ends the session that the browser had before`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.makeOperator()
        let first = await fixture.send(.post, "session", Self.right).cookie
        let second = await fixture.send(.post, "session", Self.right, cookie: first).cookie
        #expect(await fixture.send(.get, "session", cookie: first).status == 401)
        #expect(await fixture.send(.get, "session", cookie: second).status == 200)
        #expect(
            try await fixture.events().suffix(3) == [
                .operatorLoggedIn, .sessionEnded, .operatorLoggedIn,
            ])
    }

    @Test func `that fails is recorded for a hundred addresses, and once for all others`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        for number in 1...110 as ClosedRange<UInt32> {
            let peer = PeerAddress.ipv4(0x0A00_0000 + number, port: 1)
            let reply = await fixture.send(
                .post, "session", #"{"once":"wrong"}"#, peer: peer, scheme: .https)
            #expect(reply.status == 401)
        }
        var query = AuditQuery()
        query.limit = 1000
        let failures = try await fixture.store.auditEvents(query).events
            .filter { event in event.type == .operatorLoginFailed }
        let addresses = failures.map(\.origin.address)
        #expect(addresses.count { $0 == nil } == 1 && Set(addresses).count == failures.count)
        #expect((90...101).contains(failures.count))
    }

    /// The answer to the right password after five failures; `nil` if they took so long that another login may be
    /// tried.
    private static func replyAfterFiveFailures(
        _ fixture: ConsoleFixture
    ) async throws -> ConsoleReply? {
        try await fixture.makeOperator()
        let start = ContinuousClock.now
        let wrong = #"{"name":"admin","password":"wrong password"}"#
        for _ in 0..<5 { #expect(await fixture.send(.post, "session", wrong).status == 401) }
        let reply = await fixture.send(.post, "session", right)
        return ContinuousClock.now - start < .seconds(30) ? reply : nil
    }

    @Test func `that succeeds does not count as a failure`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.makeOperator()
        for _ in 0..<7 { #expect(await fixture.send(.post, "session", Self.right).status == 200) }
    }

    @Test func `is possible with the token of an application`() async throws {
        let fixture = try await ConsoleFixture()
        let application = try await fixture.store.createApplication(name: "shop")
        let token = try await fixture.store.createToken(for: application.id, scope: .write)
        let reply = await fixture.send(.post, "session", #"{"token":"\#(token.secret)"}"#)
        #expect(reply.status == 200)
        #expect(reply["app"]?.string == application.id.uuid)
        #expect(reply["role"]?.string == "write")
        #expect(
            await fixture.send(.post, "session", #"{"token":"parley_wrong"}"#).status == 401)
    }

    @Test(arguments: [
        "{}", #"{"name":"admin"}"#, #"{"password":"x"}"#, #"{"token":"x","once":"y"}"#,
        #"{"name":"a","token":"x"}"#, "[]", "x",
    ]) func `has one form`(body: String) async throws {
        let fixture = try await ConsoleFixture()
        #expect(await fixture.send(.post, "session", body).status == 400)
    }

    @Test func `without TLS is refused from other machines`() async throws {
        let lan = PeerAddress.ipv4(0xC0A8_0105, port: 1)
        let fixture = try await ConsoleFixture()
        try await fixture.makeOperator()
        let refused = await fixture.send(.post, "session", Self.right, peer: lan)
        #expect(refused.status == 403)
        #expect(refused.error == "insecure_transport")
        #expect(refused["message"]?.string?.contains("ssh -L") == true)
        let secure = await fixture.send(
            .post, "session", Self.right, fields: ["Origin": "https://localhost:8080"], peer: lan,
            scheme: .https)
        #expect(secure.status == 200)
        let lenient = try await ConsoleFixture([("console.allow_http", "true")])
        try await lenient.makeOperator()
        #expect(await lenient.send(.post, "session", Self.right, peer: lan).status == 200)
    }
}

@Suite struct `The cookie of the console` {
    @Test func `has a name of its database and is not for scripts`() async throws {
        let fixture = try await ConsoleFixture()
        let id = try await fixture.store.instanceID().prefix(8)
        let link = try await fixture.store.createLink(
            for: "admin", lifetime: 60_000, from: .command)
        let reply = await fixture.send(.post, "session", #"{"once":"\#(link)"}"#)
        #expect(
            reply.setCookie.wholeMatch(
                of:
                    /parley-console-[0-9a-f]{8}=[A-Za-z0-9_-]{43}; Path=\/console; Max-Age=43200; HttpOnly; SameSite=Strict/
            ) != nil, "\(reply.setCookie)")
        #expect(reply.cookie.hasPrefix("parley-console-\(id)="))
        let other = try await ConsoleFixture()
        #expect(try await other.store.instanceID() != fixture.store.instanceID())
    }

    @Test func `is bound to the host over https`() async throws {
        let fixture = try await ConsoleFixture()
        let link = try await fixture.store.createLink(
            for: "admin", lifetime: 60_000, from: .command)
        let reply = await fixture.send(
            .post, "session", #"{"once":"\#(link)"}"#,
            fields: ["Origin": "https://localhost:8080"], scheme: .https)
        #expect(
            reply.setCookie.wholeMatch(
                of:
                    /__Host-parley-console-[0-9a-f]{8}=[A-Za-z0-9_-]{43}; Path=\/; Secure; Max-Age=43200; HttpOnly; SameSite=Strict/
            ) != nil, "\(reply.setCookie)")
        #expect(
            await fixture.send(.get, "session", cookie: reply.cookie, scheme: .https).status == 200)
        let plain = String(reply.cookie.dropFirst("__Host-".count))
        #expect(await fixture.send(.get, "session", cookie: plain, scheme: .https).status == 401)
    }

    @Test func `is refused if it is forged or comes twice`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        #expect(await fixture.send(.get, "session", cookie: "a=b; \(cookie)").status == 200)
        let name = String(cookie.prefix { $0 != "=" })
        for forged in [
            "\(name)=", "\(name)=x", "\(name)=\(String(repeating: "A", count: 43))",
            "\(name)=\(String(repeating: "A", count: 4000))", "\(cookie)x", "other\(cookie)",
            "\(cookie); \(name)=x", "\(name)=\"'; DROP TABLE operators", "",
        ] {
            #expect(
                await fixture.send(.get, "session", cookie: forged).status == 401, "\(forged)")
        }
    }

    @Test func `is not read by the public API`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let application = try await fixture.store.createApplication(name: "shop")
        let path = "/apps/\(application.id)/conversations"
        #expect(await fixture.send(.get, path, cookie: cookie).status == 401)
        #expect(
            await fixture.send(.get, "/console/api\(path)", cookie: cookie).status == 200)
    }
}

@Suite struct `A session of the console` {
    @Test func `ends at logout`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let reply = await fixture.send(.delete, "session", cookie: cookie)
        #expect(reply.status == 204)
        #expect(reply.setCookie.contains("Max-Age=0"))
        #expect(await fixture.send(.get, "session", cookie: cookie).status == 401)
        #expect(try await fixture.events().last == .operatorLoggedOut)
    }

    @Test func `ends with the password of its operator, except the one that sets it`() async throws
    {
        let fixture = try await ConsoleFixture()
        let (first, second) = (try await fixture.logIn(), try await fixture.logIn())
        let link = try await fixture.store.createLink(
            for: "admin", lifetime: 60_000, from: .command)
        let reply = await fixture.send(
            .put, "password", #"{"new":"a long new password"}"#, cookie: first)
        #expect(reply.status == 204)
        #expect(await fixture.send(.get, "session", cookie: first).status == 200)
        #expect(await fixture.send(.get, "session", cookie: second).status == 401)
        #expect(
            await fixture.send(.post, "session", #"{"once":"\#(link)"}"#).status == 401,
            "links end, too")
        let login = #"{"name":"admin","password":"a long new password"}"#
        #expect(await fixture.send(.post, "session", login).status == 200)
    }

    @Test func `needs the former password to set another, unless it began with a link`()
        async throws
    {
        let fixture = try await ConsoleFixture()
        try await fixture.makeOperator()
        let cookie = await fixture.send(
            .post, "session", #"{"name":"admin","password":"correct horse battery"}"#
        ).cookie
        let new = #""new":"a long new password""#
        let missing = await fixture.send(.put, "password", "{\(new)}", cookie: cookie)
        #expect(missing.status == 422)
        #expect(missing["data"]?["property"]?.string == "old")
        let wrong = await fixture.send(
            .put, "password", #"{"old":"something else",\#(new)}"#, cookie: cookie)
        #expect(wrong.status == 403)
        let right = await fixture.send(
            .put, "password", #"{"old":"correct horse battery",\#(new)}"#, cookie: cookie)
        #expect(right.status == 204)
        // The session of a link sets one password without the former one.
        let other = try await fixture.logIn()
        #expect(await fixture.send(.put, "password", "{\(new)}", cookie: other).status == 204)
        #expect(await fixture.send(.put, "password", "{\(new)}", cookie: other).status == 422)
    }

    @Test(arguments: ["short", "", String(repeating: "x", count: 1025)])
    func `takes passwords of 12 to 1,024 bytes`(password: String) async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        let reply = await fixture.send(
            .put, "password", #"{"new":"\#(password)"}"#, cookie: cookie)
        #expect(reply.status == 422)
        #expect(reply["data"]?["property"]?.string == "new")
    }

    @Test func `sets no password once it has ended or the password was changed`() async throws {
        let fixture = try await ConsoleFixture()
        let store = fixture.store
        let cookie = try await fixture.logIn("ana")
        let id = try #require(await fixture.send(.get, "session", cookie: cookie)["id"]?.string)
        let session = try #require(ConsoleSession.ID(uuid: id))
        let (one, two): ([UInt8], [UInt8]) = ([1], [2])
        let replace = { (new: [UInt8], former: [UInt8]?) in
            try await store.replacePassword(
                new, of: "ana", in: session, replacing: former, from: .command)
        }
        #expect(try await replace(one, nil))
        // The session that began with a link has used this up.
        #expect(try await !replace(two, nil))
        #expect(try await !replace(two, two))
        #expect(try await replace(two, one))
        #expect(try await store.operatorPassword(of: "ana")?.password == two)
        #expect(try await store.removeOperator("ana", from: .command))
        #expect(try await !replace(one, two))
        #expect(try await store.operatorPassword(of: "ana") == nil)
    }

    @Test func `ends when its operator is removed`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        #expect(try await fixture.store.removeOperator("admin", from: .command))
        #expect(await fixture.send(.get, "session", cookie: cookie).status == 401)
    }

    @Test func `ends with its token and its application`() async throws {
        let fixture = try await ConsoleFixture()
        let application = try await fixture.store.createApplication(name: "shop")
        func cookie() async throws -> (String, Token.ID) {
            let token = try await fixture.store.createToken(for: application.id, scope: .admin)
            let reply = await fixture.send(.post, "session", #"{"token":"\#(token.secret)"}"#)
            return (reply.cookie, token.token.id)
        }
        let (first, token) = try await cookie()
        #expect(await fixture.send(.get, "session", cookie: first).status == 200)
        try await fixture.store.revokeToken(token, of: application.id)
        #expect(await fixture.send(.get, "session", cookie: first).status == 401)
        let (second, _) = try await cookie()
        try await fixture.store.suspendApplication(application.id, true)
        #expect(await fixture.send(.get, "session", cookie: second).status == 401)
    }

    @Test func `is listed and ended by operators with the role admin`() async throws {
        let fixture = try await ConsoleFixture()
        let (first, second) = (try await fixture.logIn("ana"), try await fixture.logIn("bo"))
        let list = await fixture.send(
            .get, "sessions", cookie: first, fields: ["User-Agent": "test"])
        let sessions = try #require(list.json).elements.map { $0 }
        #expect(sessions.map { $0["name"]?.string } == ["bo", "ana"])
        #expect(sessions.allSatisfy { $0["address"]?.string == "127.0.0.1" })
        let known = await fixture.send(.get, "operators", cookie: first)
        let operators = try #require(known.json).elements.map { $0 }
        #expect(operators.map { $0["name"]?.string } == ["ana", "bo"])
        #expect(operators.allSatisfy { $0["role"]?.string == "admin" && $0["password"] == nil })
        let id = try #require(sessions[0]["id"]?.string)
        #expect(await fixture.send(.delete, "sessions/\(id)", cookie: first).status == 204)
        #expect(await fixture.send(.get, "session", cookie: second).status == 401)
        #expect(await fixture.send(.delete, "sessions/\(id)", cookie: first).status == 404)
        #expect(await fixture.send(.delete, "sessions/x", cookie: first).status == 404)
        #expect(try await fixture.events().last == .sessionEnded)
    }

    @Test func `of one account are fifty at most`() async throws {
        let fixture = try await ConsoleFixture()
        let first = try await fixture.logIn()
        for _ in 0..<ConsoleSession.limit {
            let link = try await fixture.store.createLink(
                for: "admin", lifetime: 60_000, from: .command)
            let origin = AuditOrigin(actor: nil, address: "127.0.0.1", request: nil)
            _ = try await fixture.store.beginConsoleSession(
                by: .link(link), agent: nil, fixture.server.settings.console.lifetimes, from: origin
            )
        }
        #expect(await fixture.send(.get, "session", cookie: first).status == 401)
        let grants = try await fixture.store.consoleSessions(
            fixture.server.settings.console.lifetimes)
        #expect(grants.count == ConsoleSession.limit)
    }
}
