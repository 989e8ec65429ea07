import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `The Client API` {
    /// A conversation of ana and bo with a message of each, an announcement to ana, and ana's session.
    private struct SampleChat {
        let login: LoginFixture
        let session: String
        let conversation: String
        let message: String

        func send(
            _ method: String, _ target: String, _ body: String = "",
            fields: [(name: String, value: String)] = []
        ) async throws -> PlainAnswer {
            try await login.send(method, target, body, session: session, fields: fields)
        }

        func read(_ target: String) async throws -> JSONValue? {
            try await send("GET", target).json
        }
    }

    private func chat(version: String = "3.0") async throws -> SampleChat {
        let login = try await LoginFixture.make(version: version)
        let session = try await login.session()
        let names =
            version < "2.0"
            ? #"["bo"]"# : #"["layer:///identities/bo"]"#
        let created = try await login.send(
            "POST", "/conversations", #"{"participants":\#(names),"metadata":{"topic":"rent"}}"#,
            session: session)
        #expect(created.status == 201, "\(created.body)")
        let conversation = try #require(created.uuid)
        let sent = try await login.send(
            "POST", "/conversations/\(conversation)/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"hello"}]}"#, session: session)
        #expect(sent.status == 201, "\(sent.body)")
        let message = try #require(sent.uuid)
        let reply = try await login.sendAsServer(
            "POST", "/apps/{app}/users/bo/conversations/\(conversation)/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"hi"}]}"#)
        #expect(reply.status == 201, "\(reply.body)")
        let sender =
            version < "2.0"
            ? #""recipients":["ana"],"sender":{"name":"Billing"}"#
            : #""recipients":["layer:///identities/ana"],"sender_id":"layer:///identities/bo""#
        let announced = try await login.sendAsServer(
            "POST", "/apps/{app}/announcements",
            #"{\#(sender),"parts":[{"mime_type":"text/plain","body":"Water off"}]}"#)
        #expect(announced.status == 202, "\(announced.body)")
        return SampleChat(
            login: login, session: session, conversation: conversation, message: message)
    }

    @Test(arguments: APIVersion.allCases)
    func `answers as on behalf of the user, with URLs that name no application (3, 4.1, 4.2, 4.4)`(
        version: APIVersion
    ) async throws {
        let chat = try await chat(version: version.rawValue)
        let announcement = try #require(
            try await chat.read("/announcements")?.elements.compactMap(\.uuid).first)
        var paths = [
            "/conversations", "/conversations?sort_by=last_message&page_size=1",
            "/conversations/\(chat.conversation)",
            "/conversations/\(chat.conversation)/messages",
            "/conversations/\(chat.conversation)/messages?page_size=1",
            "/messages/\(chat.message)", "/announcements", "/announcements/\(announcement)",
        ]
        if version.namesIdentities { paths += ["/messages/\(chat.message)/parts"] }
        let app = chat.login.sample.application.uuid
        for path in paths {
            let own = try await chat.send("GET", path)
            let behalf = try await chat.login.sendAsServer("GET", "/apps/{app}/users/ana\(path)")
            #expect(own.status == 200, "\(path): \(own.body)")
            let expected = ["ana", "bo"].reduce(behalf.body) { body, user in
                body.replacing("/apps/\(app)/users/\(user)/identity", with: "/identities/\(user)")
            }.replacing("/apps/\(app)/users/ana/", with: "/")
            #expect(own.body == expected, "\(path)")
            #expect(own["Layer-Count"] == behalf["Layer-Count"], "\(path)")
            #expect(own["Parley-Version"] == version.rawValue)
            #expect(
                own["Link"]
                    == behalf["Link"]?.replacing("/apps/\(app)/users/ana/", with: "/"), "\(path)")
            #expect(!own.body.contains("/apps/"), "\(path)")
        }
    }

    @Test(arguments: APIVersion.allCases)
    func `has an object for each sender, and metadata on full identities only (client-api 3)`(
        version: APIVersion
    ) async throws {
        let chat = try await chat(version: version.rawValue)
        let messages = try await chat.read("/conversations/\(chat.conversation)/messages")
        for message in messages?.elements.map(\.self) ?? [] {
            #expect(message["sender"]?.kind == .object)
            #expect(message["sender"]?["metadata"] == nil)
            #expect(message["is_unread"]?.bool != nil)
            #expect(message["conversation"]?["id"] != nil)
            #expect(message["parts"]?.kind == .array)
        }
        guard version.namesIdentities else { return }
        let identity = try await chat.read("/identities/ana")
        #expect(identity?["url"]?.string == "https://chat.example.com/identities/ana")
        #expect(identity?["metadata"]?.kind == .object)
        #expect(identity?["type"]?.string == "user")
        #expect(identity?["identity_type"]?.string == "user")
    }

    @Test(arguments: APIVersion.allCases)
    func `negotiates each version, and 406 lists them (client-api 1, ruling 31)`(
        version: APIVersion
    ) async throws {
        let login = try await LoginFixture.make(version: version.rawValue)
        let session = try await login.session()
        let answer = try await login.send("GET", "/conversations", session: session)
        #expect(answer["Parley-Version"] == version.rawValue)
        let refused = try await login.send(
            "GET", "/conversations", session: session,
            accept: "application/vnd.layer+json; version=4.0")
        #expect(refused.status == 406)
        #expect(refused.json?["data"]?["header"]?.string == "Accept")
        #expect(
            try await login.send("POST", "/nonces", accept: "text/html").status == 406)
    }

    @Test func `changes what participants may change (client-api 4.1, 4.2)`() async throws {
        let chat = try await chat()
        let path = "/conversations/\(chat.conversation)"
        let patched = try await chat.send(
            "PATCH", path,
            """
            [{"operation":"add","property":"participants","id":"layer:///identities/cy"},\
            {"operation":"set","property":"metadata.topic","value":"keys"}]
            """)
        #expect(patched.status == 204, "\(patched.body)")
        let overridden = try await chat.send(
            "POST", path, #"[{"operation":"delete","property":"metadata.topic"}]"#,
            fields: [
                ("X-HTTP-Method-Override", "PATCH"),
                ("Content-Type", "application/vnd.layer-patch+json"),
            ])
        #expect(overridden.status == 204, "\(overridden.body)")
        let found = try await chat.read(path)
        #expect(found?["participants"]?.count == 3)
        #expect(found?["metadata"]?.count == 0)
        #expect(found?["unread_message_count"]?.integer == 1)
        // As the web SDK sends it: a content type and no body.
        let marked = try await chat.send(
            "POST", "\(path)/mark_all_read", fields: [("Content-Type", "application/json")])
        #expect(marked.status == 202, "\(marked.body)")
        #expect(marked.json?["position"]?.integer == 131_072)
        #expect(try await chat.read(path)?["unread_message_count"]?.integer == 0)
        #expect(
            try await chat.send("DELETE", "/messages/\(chat.message)").status == 204,
            "for this user only (ruling 45)")
        #expect(try await chat.send("GET", "/messages/\(chat.message)").status == 404)
        #expect(
            try await chat.login.sendAsServer(
                "GET", "/apps/{app}/messages/\(chat.message)"
            ).status == 200)
        #expect(
            try await chat.send("DELETE", "\(path)?mode=my_devices&leave=true").status == 204)
        #expect(try await chat.send("GET", path).status == 404)
        #expect(
            try await chat.send("DELETE", "\(path)?mode=everywhere").json?["data"]?["property"]?
                .string == "mode")
    }

    @Test
    func
        `answers 409 with the object for an id or a conversation that exists (client-api 4.1, 4.2)`()
        async throws
    {
        let chat = try await chat()
        let body =
            #"{"id":"layer:///messages/\#(chat.message)","parts":[{"mime_type":"a/b","body":"x"}]}"#
        let again = try await chat.send(
            "POST", "/conversations/\(chat.conversation)/messages", body)
        #expect(again.status == 409)
        #expect(again.json?["code"]?.integer == 111)
        #expect(
            again.json?["data"]?["url"]?.string
                == "https://chat.example.com/messages/\(chat.message)")
        let distinct = #"{"participants":["bo"],"distinct":true,"metadata":{"a":"b"}}"#
        #expect(try await chat.send("POST", "/conversations", distinct).status == 201)
        #expect(try await chat.send("POST", "/conversations", distinct).status == 200)
        let conflict = try await chat.send(
            "POST", "/conversations", distinct.replacing("\"b\"}", with: "\"c\"}"))
        #expect(conflict.status == 409)
        #expect(conflict.json?["code"]?.integer == 108)
        #expect(conflict.json?["data"]?["metadata"]?["a"]?.string == "b")
    }

    @Test func `records receipts by message and by position (client-api 4.2, 4.9, R72)`()
        async throws
    {
        let chat = try await chat()
        let bo = try await chat.login.session(of: "bo")
        func send(_ target: String, _ body: String) async throws -> PlainAnswer {
            try await chat.login.send("POST", target, body, session: bo)
        }
        func status() async throws -> String? {
            try await chat.read("/messages/\(chat.message)")?["recipient_status"]?[
                "layer:///identities/bo"]?.string
        }
        let positions = "/conversations/\(chat.conversation)/receipts"
        #expect(try await status() == "sent")
        #expect(
            try await send(positions, #"{"type":"delivery","positions":"1-500"}"#).status == 204)
        #expect(try await status() == "delivered")
        #expect(
            try await send("/messages/\(chat.message)/receipts", #"{"type":"read"}"#).status == 204
        )
        #expect(try await status() == "read")
        #expect(
            try await send("/messages/\(chat.message)/receipts", #"{"type":"seen"}"#)
                .json?["data"]?["property"]?.string == "type")
        for text in [
            "\"\"", "\"0\"", "\"-1\"", "\"1-\"", "\"2-1\"", "\"1,1\"", "\"1-2,3\"",
            "\"9223372036854775807\"", "\"1-99999999999999999999\"", "\"68719476736\"", "5", "[]",
            "\"\((1...1001).map { String(2 * $0) }.joined(separator: ","))\"",
        ] {
            let answer = try await send(positions, #"{"type":"read","positions":\#(text)}"#)
            #expect(answer.status == 422, "\(text)")
            #expect(answer.json?["data"]?["property"]?.string == "positions")
        }
        #expect(
            try await send(positions, #"{"type":"read"}"#).json?["id"]?.string
                == "missing_property")
        let cy = try await chat.login.session(of: "cy")
        #expect(
            try await chat.login.send(
                "POST", positions, #"{"type":"read","positions":"1"}"#, session: cy
            ).status == 404)
    }

    @Test func `lets only the sender change the parts of a message (client-api 4.3)`() async throws
    {
        let chat = try await chat()
        let bo = try await chat.login.session(of: "bo")
        let path = "/messages/\(chat.message)/parts"
        let body = #"{"mime_type":"text/plain","body":"more"}"#
        let added = try await chat.send("POST", path, body)
        #expect(added.status == 201)
        #expect(
            added.json?["url"]?.string?.hasPrefix("https://chat.example.com\(path)/") == true)
        #expect(added["Location"]?.hasPrefix("\(path)/") == true)
        #expect(try await chat.login.send("POST", path, body, session: bo).status == 403)
        #expect(try await chat.login.send("GET", path, session: bo).status == 200)
        #expect(try await chat.send("PUT", path, "[\(body)]").status == 200)
        #expect(try await chat.read(path)?.count == 1)
    }

    @Test func `creates and refreshes content (client-api 4.5, R86)`() async throws {
        let chat = try await chat()
        let created = try await chat.send(
            "POST", "/content",
            fields: [
                ("Upload-Content-Type", "text/plain"), ("Upload-Content-Length", "5"),
                ("Upload-Origin", "https://app.example"),
            ])
        #expect(created.status == 201, "\(created.body)")
        let id = try #require(created.uuid)
        #expect(created["Location"] == "/content/\(id)")
        #expect(created.json?["download_url"]?.isNull == true)
        let url = try #require(created.json?["upload_url"]?.string)
        let uploaded = try await chat.login.client.send(
            PlainRequest(
                method: "PUT", target: String(url.dropFirst(TestServer.base.count)),
                fields: [
                    ("Upload-Content-Length", "5"), ("Upload-Content-Type", "text/plain"),
                    ("Origin", "https://app.example"),
                ], body: "hello"))
        #expect(uploaded.status < 300)
        #expect(uploaded["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(uploaded["Access-Control-Allow-Credentials"] == "true")
        let sent = try await chat.send(
            "POST", "/conversations/\(chat.conversation)/messages",
            #"{"parts":[{"mime_type":"text/plain","content":{"id":"layer:///content/\#(id)","size":5}}]}"#
        )
        #expect(sent.status == 201, "\(sent.body)")
        let content = sent.json?["parts"]?.elements.compactMap { $0["content"] }.first
        #expect(content?["refresh_url"]?.string == "https://chat.example.com/content/\(id)")
        let bo = try await chat.login.session(of: "bo")
        #expect(try await chat.login.send("GET", "/content/\(id)", session: bo).status == 200)
        let cy = try await chat.login.session(of: "cy")
        #expect(try await chat.login.send("GET", "/content/\(id)", session: cy).status == 404)
    }

    @Test func `uploads content of the user through any upload protocol (client-api 4.5)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let tus = [(name: "Tus-Resumable", value: "1.0.0")]
        let refused = try await login.send(
            "POST", "/uploads", session: "unknown", fields: tus + [("Upload-Length", "5")])
        #expect(refused.status == 401)
        let created = try await login.send(
            "POST", "/uploads", session: session, fields: tus + [("Upload-Length", "5")])
        #expect(created.status == 201, "\(created.body)")
        let url = try #require(created["Location"])
        let id = try #require(created["Parley-Content-Id"]?.split(separator: "/").last)
        let appended = try await login.client.send(
            PlainRequest(
                method: "PATCH", target: String(url.dropFirst(TestServer.base.count)),
                fields: tus + [
                    ("Content-Type", "application/offset+octet-stream"), ("Upload-Offset", "0"),
                ], body: "hello"))
        #expect(appended.status == 204)
        #expect(try await login.send("GET", "/content/\(id)", session: session).status == 200)
        let other = try await login.session(of: "bo")
        #expect(try await login.send("GET", "/content/\(id)", session: other).status == 404)
    }

    @Test func `follows, unfollows and lists users (client-api 4.6)`() async throws {
        let chat = try await chat()
        _ = try await chat.login.session(of: "dee")
        #expect(try await chat.send("GET", "/following/users/dee").status == 404)
        #expect(
            try await chat.send(
                "PUT", "/following/users/dee", fields: [("Content-Type", "application/json")]
            ).status == 204)
        #expect(try await chat.send("GET", "/following/users/dee").status == 204)
        #expect(try await chat.read("/following")?.count == 2)
        let identities = try await chat.send("GET", "/identities?page_size=1")
        #expect(identities["Layer-Count"] == "2")
        #expect(identities.json?.count == 1)
        for list in ["identities", "following"] {
            let uncounted = try await chat.send("GET", "/\(list)?count=none")
            #expect(uncounted.json?.count == 2)
            #expect(uncounted["Layer-Count"] == nil)
            #expect(try await chat.send("GET", "/\(list)?count=all").status == 422)
        }
        #expect(
            identities["Link"]?.hasPrefix("<https://chat.example.com/identities?") == true)
        #expect(
            try await chat.send(
                "POST", "/following/users", #"["eve","layer:///identities/fay"]"#
            ).status == 202)
        #expect(try await chat.read("/following")?.count == 4)
        #expect(try await chat.send("DELETE", "/following/users/eve").status == 204)
        #expect(try await chat.send("DELETE", "/following/fay").status == 204)
        #expect(try await chat.read("/following")?.count == 2)
        #expect(try await chat.send("GET", "/identities/unknown").status == 404)
        let older = try await chat.login.send(
            "GET", "/following", session: chat.session,
            accept: "application/vnd.layer+json; version=1.1")
        #expect(older.status == 404)
        #expect(older.json?["id"]?.string == "invalid_endpoint")
    }

    @Test
    func `stores push tokens, 25 for a user, until the session ends (client-api 4.7, ruling 50)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        let user = try #require(UserID("ana"))
        func devices() async throws -> [String] {
            try await login.store.devices(of: user, in: login.sample.application).map(\.id)
        }
        func register(_ number: Int, _ token: String? = nil, by session: String) async throws -> Int
        {
            try await login.send(
                "POST", "/push_tokens",
                """
                {"type":"apns","token":"\(token ?? "token\(number)")","device_id":"\(number)",\
                "apns_bundle_id":"com.example.chat","ios_version":"17.0"}
                """, session: session
            ).status
        }
        for number in 0..<27 { #expect(try await register(number, by: session) == 202) }
        #expect(try await devices() == (2..<27).reversed().map(String.init))
        #expect(try await register(5, "other", by: session) == 202)
        #expect(try await devices().first == "5")
        #expect(try await devices().count == 25)
        #expect(try await login.send("DELETE", "/push_tokens/6", session: session).status == 202)
        #expect(try await login.send("DELETE", "/push_tokens/none", session: session).status == 202)
        #expect(try await devices().count == 24)
        let second = try await login.session()
        #expect(try await register(100, "token7", by: second) == 202)
        #expect(try await devices().count == 24, "a token moves to the latest device")
        #expect(try await login.send("DELETE", "/sessions/\(session)").status == 204)
        #expect(try await devices() == ["100"])
        for (body, property) in [
            ("{}", "type"), (#"{"type":"fax"}"#, "type"), (#"{"type":"apns"}"#, "token"),
            (#"{"type":"apns","token":""}"#, "token"),
            (#"{"type":"apns","token":"a b"}"#, "token"),
            (#"{"type":"gcm","token":"a"}"#, "device_id"),
            (#"{"type":"gcm","token":"a","device_id":5}"#, "device_id"),
            (#"{"type":"gcm","token":"a","device_id":"a","gcm_sender_id":""}"#, "gcm_sender_id"),
        ] {
            let answer = try await login.send("POST", "/push_tokens", body, session: second)
            #expect(answer.status == 422, "\(body)")
            #expect(answer.json?["data"]?["property"]?.string == property)
        }
    }

    @Test(arguments: ["/channels", "/channels/x", "/unknown", "/conversations/x/y/z"])
    func `does not have other paths (client-api 4.8)`(path: String) async throws {
        let login = try await LoginFixture.make()
        let answer = try await login.send("GET", path, session: try await login.session())
        #expect(answer.status == 404)
        #expect(answer.json?["id"]?.string == "invalid_endpoint")
    }

    @Test func `names where a write stands in the log (client-api 1)`() async throws {
        let chat = try await chat()
        func cursor(_ answer: PlainAnswer) throws -> (epoch: String, position: Int64) {
            let parts = try #require(answer["Parley-Cursor"]).split(separator: ".")
            #expect(parts.count == 2 && parts[0].count == 16)
            return (String(parts[0]), try #require(Int64(parts[1])))
        }
        let path = "/conversations/\(chat.conversation)/messages"
        let body = #"{"parts":[{"mime_type":"text/plain","body":"again"}]}"#
        let first = try cursor(try await chat.send("POST", path, body))
        #expect(first.position == (try await chat.login.sample.end()))
        let second = try cursor(try await chat.send("POST", path, body))
        #expect(second.epoch == first.epoch)
        #expect(second.position == first.position + 1)
        let none = try cursor(
            try await chat.send("POST", "/messages/\(chat.message)/receipts", #"{"type":"read"}"#))
        #expect(
            none.position == second.position, "a write without effect stands at the end of the log")
        #expect(try await chat.send("GET", "/conversations")["Parley-Cursor"] == nil)
        let keyed = [(name: "Idempotency-Key", value: "once")]
        let once = try await chat.send("POST", path, body, fields: keyed)
        let again = try await chat.send("POST", path, body, fields: keyed)
        #expect(again["Idempotent-Replayed"] == "true")
        #expect(again["Parley-Cursor"] == once["Parley-Cursor"])
        #expect(again.body == once.body)
    }

    @Test func `counts idempotency keys for each user (ruling 40)`() async throws {
        let chat = try await chat()
        let bo = try await chat.login.session(of: "bo")
        let path = "/conversations/\(chat.conversation)/messages"
        let body = #"{"parts":[{"mime_type":"text/plain","body":"again"}]}"#
        let key = [(name: "Idempotency-Key", value: "k1")]
        let first = try await chat.send("POST", path, body, fields: key)
        let other = try await chat.login.send("POST", path, body, session: bo, fields: key)
        #expect(first.status == 201)
        #expect(other.status == 201)
        #expect(other["Idempotent-Replayed"] == nil)
        #expect(other.uuid != first.uuid)
        let reused = try await chat.send(
            "POST", path, body.replacing("again", with: "other"), fields: key)
        #expect(reused.json?["code"]?.integer == 112)
    }

    @Test func `names the message and the conversation of one sent through an alias (ruling 48)`()
        async throws
    {
        let chat = try await chat()
        let body = { (id: String) in
            #"{"id":"layer:///conversations/\#(id)","distinct":true,"participants":["layer:///identities/eve"]}"#
        }
        let (winner, alias) = (
            "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a", "1d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"
        )
        #expect(try await chat.send("POST", "/conversations", body(winner)).status == 201)
        #expect(try await chat.send("POST", "/conversations", body(alias)).status == 200)
        let sent = try await chat.send(
            "POST", "/conversations/\(alias)/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"hello"}]}"#)
        #expect(sent.status == 201, "\(sent.body)")
        #expect(sent["Location"] == "/messages/\(try #require(sent.uuid))")
        #expect(sent["Content-Location"] == "/conversations/\(winner)")
    }

    @Test func `limits the requests of each session`() async throws {
        let server = try await TestServer.limited(RateLimit(perSecond: 1, burst: 3))
        let login = try await LoginFixture.make(in: server)
        let (one, two) = (try await login.session(), try await login.session())
        var statuses: [Int] = []
        for _ in 0..<4 {
            statuses.append(try await login.send("GET", "/conversations", session: one).status)
        }
        #expect(statuses == [200, 200, 200, 429])
        #expect(try await login.send("GET", "/conversations", session: two).status == 200)
    }

    @Test(
        arguments: Endpoint.client.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `is described, and each example gets its documented response (X11)`(
        route: String, version: APIVersion
    ) async throws {
        let isOffered = Endpoint.client.contains { endpoint in
            "\(endpoint.method.rawValue) \(endpoint.path)" == route
                && endpoint.versions.contains(version)
        }
        var examples = try await DescriptionExamples(version: version.rawValue, isOfClients: true)
        let operation = examples.description.operations.first { "\($0.method) \($0.path)" == route }
        #expect((operation != nil) == isOffered)
        guard let operation else { return }
        try await examples.prepare(operation)
        let answer = try await examples.send(operation)
        #expect(
            answer.status == operation.json["x-example"]?["status"]?.integer.map { Int($0) },
            "\(answer.body)")
        #expect(examples.description.problem(answer, of: operation) == nil)
        #expect(
            Set(examples.description.operations.map(\.name)).count
                == examples.description.operations.count)
        guard version == .v3_0, (200..<300).contains(answer.status) else { return }
        try expectSameAfterReading(Array(answer.body.utf8), in: examples.sample.application)
    }

    /// Checks that what the client library reads of an answer is the same when it is written and read again (K1).
    private func expectSameAfterReading(
        _ body: [UInt8], in application: Application.ID
    ) throws {
        guard !body.isEmpty else { return }
        let root = try JSONDocument(body).root
        let objects = root.kind == .array ? Array(root.elements) : [root]
        // Conversations are read from the feed only, where they have more members.
        let items =
            root["items"].map { items in items.elements.map { item in Array(item.raw) } }
            ?? objects.compactMap { object -> [UInt8]? in
                // Ids of parts have more segments.
                guard let id = object["id"]?.string, id.split(separator: "/").count == 3,
                    let type = ["message", "announcement"].first(where: { type in
                        id.hasPrefix("layer:///\(type)s/")
                    })
                else { return nil }
                let head = #"{"type":"\#(type)","id":"\#(id)","data":"#
                return Array(head.utf8) + object.raw + [UInt8(ascii: "}")]
            }
        let links = LinkBuilder(
            publicBase: TestServer.base, application: application, perspective: .system)
        let presentation = Presentation(version: .v3_0, links: links) { _ in
            (TestServer.base, 0)
        }
        for bytes in items {
            let item = try #require(try FeedItemJSON.read(JSONDocument(bytes).root))
            var writer = JSONWriter()
            item.write(presentation, into: &writer)
            let again = try FeedItemJSON.read(JSONDocument(writer.finish()).root)
            // The shared members of a conversation are written from bytes, which a reader does not keep.
            if case .conversation = item { continue }
            #expect(again == item)
        }
    }

    @Test(
        arguments: Endpoint.client.filter(\.isRepeatable).map {
            "\($0.method.rawValue) \($0.path)"
        }, APIVersion.allCases)
    func `executes every example under a key once, and replays its answer (X2)`(
        route: String, version: APIVersion
    ) async throws {
        var examples = try await DescriptionExamples(version: version.rawValue, isOfClients: true)
        guard
            let operation = examples.description.operations
                .first(where: { "\($0.method) \($0.path)" == route })
        else { return }
        try await examples.prepare(operation)
        var request = try examples.request(operation)
        request.fields.append(("Idempotency-Key", "the only one"))
        #expect(try await examples.client.send(request).status == 400, "the key contains a space")
        request.fields[request.fields.count - 1].value = "the-only-one"
        let first = try await examples.client.send(request)
        #expect(
            first.status == operation.json["x-example"]?["status"]?.integer.map { Int($0) },
            "\(first.body)")
        let count = try await examples.sample.eventCount()
        let second = try await examples.client.send(request)
        #expect(second.status == first.status)
        #expect(second.body == first.body)
        #expect(second["Idempotent-Replayed"] == "true")
        #expect(second["Parley-Cursor"] == first["Parley-Cursor"])
        #expect(try await examples.sample.eventCount() == count)
        guard operation.json["requestBody"] != nil else { return }
        request.bytes = Array("{}".utf8)
        #expect([400, 422].contains(try await examples.client.send(request).status))
    }

    @Test(arguments: Endpoint.client.map { "\($0.method.rawValue) \($0.path)" })
    func `answers invalid bodies below 500, as described (X11)`(route: String) async throws {
        var examples = try await DescriptionExamples(version: "3.0", isOfClients: true)
        let operation = try #require(
            examples.description.operations.first { "\($0.method) \($0.path)" == route })
        guard operation.json["requestBody"] != nil else { return }
        try await examples.prepare(operation)
        let members = try JSONDocument(examples.body(of: operation)).root.members.map(\.key)
        var bodies = [
            "", "null", "[]", "{}", "5", "\"x\"", "{", "[[]]", "[{}]", "{\"a\":1,\"a\":2}",
        ]
        for name in members {
            for value in [
                "null", "5", "-1", "1e400", "true", "\"\"", "[]", "{}", "[null]", "\"\\u0000\"",
            ] {
                bodies.append("{\"\(name)\":\(value)}")
            }
        }
        for body in bodies {
            let answer = try await examples.send(operation, body: Array(body.utf8))
            #expect(answer.status < 500, "\(body)")
            #expect(examples.description.problem(answer, of: operation) == nil, "\(body)")
        }
    }
}

@Suite struct `Browsers` {
    private let origin = [(name: "Origin", value: "https://app.example")]

    @Test func `of allowed origins read each answer, also errors (client-api 1.1)`() async throws {
        let login = try await LoginFixture.make()
        let session = try await login.session()
        for (method, path, status) in [
            ("GET", "/conversations", 200), ("GET", "/unknown", 404),
            ("PUT", "/conversations", 405),
            ("GET", "/conversations/x", 404), ("GET", "/", 200), ("GET", "/ping", 200),
            ("HEAD", "/ping", 200), ("POST", "/nonces", 201),
        ] {
            let answer = try await login.send(method, path, session: session, fields: origin)
            #expect(answer.status == status)
            #expect(
                answer["Access-Control-Allow-Origin"] == "https://app.example", "\(method) \(path)")
            #expect(answer["Access-Control-Allow-Credentials"] == "true")
            #expect(answer.fields.contains { $0.name == "Vary" && $0.value == "Origin" })
            let exposed = answer["Access-Control-Expose-Headers"] ?? ""
            for name in [
                "Layer-Count", "Layer-Conversation-Is-Syncing", "Link", "Location", "Parley-Cursor",
            ] { #expect(exposed.contains(name)) }
        }
        let unauthorized = try await login.send("GET", "/conversations", fields: origin)
        #expect(unauthorized.status == 401)
        #expect(unauthorized.nonce != nil)
        #expect(unauthorized["Access-Control-Allow-Origin"] == "https://app.example")
        let other = try await login.send(
            "GET", "/conversations", session: session, fields: [("Origin", "https://evil.example")])
        #expect(other["Access-Control-Allow-Origin"] == nil)
        #expect(other["Access-Control-Allow-Credentials"] == nil)
    }

    @Test func `may send what the web SDK sends (client-api 1.1)`() async throws {
        let login = try await LoginFixture.make()
        for path in ["/conversations", "/sessions", "/content", "/", "/ping"] {
            let answer = try await login.client.send(
                PlainRequest(
                    method: "OPTIONS", target: path,
                    fields: origin + [("Access-Control-Request-Method", "POST")], body: ""))
            #expect(answer.status == 204)
            #expect(answer["Access-Control-Allow-Origin"] == "https://app.example")
            #expect(answer["Access-Control-Allow-Credentials"] == "true")
            let names = (answer["Access-Control-Allow-Headers"] ?? "").lowercased()
            for name in [
                "accept", "authorization", "content-type", "if-none-match",
                "x-http-method-override", "upload-content-type", "upload-content-length",
                "upload-origin",
            ] { #expect(names.contains(name), "\(path) \(name)") }
        }
    }

    @Test func `of any origin are named in the answer, never by * (client-api 1.1)`() async throws {
        let server = try await TestServer.forAllOrigins()
        let client = SocketClient(port: server.port)
        let answer = try await client.send(
            PlainRequest(
                method: "POST", target: "/nonces", fields: [("Origin", "https://any.example")],
                body: ""))
        #expect(answer["Access-Control-Allow-Origin"] == "https://any.example")
        #expect(answer["Access-Control-Allow-Credentials"] == "true")
        let plain = try await client.send(
            PlainRequest(method: "POST", target: "/nonces", fields: [], body: ""))
        #expect(plain["Access-Control-Allow-Origin"] == nil)
    }

    @Test
    func `find the resources at the root, and there that a session has ended (client-api 1.2)`()
        async throws
    {
        let login = try await LoginFixture.make()
        let target = "/?action=validateConnectionForWebsocket&client=3.4.6"
        let answer = try await login.send("GET", target)
        #expect(answer.status == 200)
        for name in ["nonces", "sessions", "conversations", "content"] {
            #expect(
                answer["Link"]?.contains("<https://chat.example.com/\(name)>; rel=\(name)") == true)
        }
        let session = try await login.session()
        #expect(try await login.send("GET", target, session: session).status == 200)
        _ = try await login.send("DELETE", "/sessions/\(session)")
        let ended = try await login.send("GET", target, session: session)
        #expect(ended.status == 401)
        #expect(ended.nonce != nil)
        let ping = try await login.send("GET", "/ping?client=3.4.6", accept: "text/plain")
        #expect(ping.status == 200)
        #expect(ping.body.isEmpty)
    }
}

extension PlainAnswer {
    /// The UUID at the end of `id`.
    fileprivate var uuid: String? { json?.uuid }
}

extension JSONValue {
    /// The UUID at the end of `id`.
    fileprivate var uuid: String? {
        self["id"]?.string?.split(separator: "/").last.map(String.init)
    }
}
