import JSON
import Messaging
import MessagingStore
import Testing

@Suite struct `Hostile requests about users` {
    @Test func `an application cannot read another's users`() async throws {
        let (one, other) = try await (SampleApplication.make(), SampleApplication.make())
        let client = RouterClient(service: one.server.service)
        _ = try await one.send(
            "PUT", "/apps/{app}/users/ana/identity", #"{"display_name":"Ana"}"#, by: client)
        _ = try await one.send("PUT", "/apps/{app}/users/ana/following/bo", by: client)
        _ = try await one.send(
            "PATCH", "/apps/{app}/users/ana",
            #"[{"operation":"add","property":"blocks","value":"bo"}]"#, fields: patch, by: client)
        for path in ["", "/identity", "/badge", "/following", "/identities"] {
            let answer = try await other.send("GET", "/apps/{app}/users/ana\(path)", by: client)
            #expect(answer.status == 404, "\(path)")
        }
        let blocks = try await other.send("GET", "/apps/{app}/users/ana/blocks", by: client)
        #expect(blocks.body == "[]")
    }

    @Test(arguments: [
        "%F0%9F%A6%8A", "a%2Fb", "..%2F..", "ana'%20OR%20'1'='1", "%5C", "+",
        "e%CC%81", "%C3%A9",
    ])
    func `every valid user id is accepted and escaped (R90, ruling 7)`(name: String)
        async throws
    {
        let sample = try await SampleApplication.make()
        let client = SocketClient(port: sample.server.port)
        let path = "/apps/{app}/users/\(name)"
        let made = try await sample.send(
            "POST", "\(path)/identity", #"{"display_name":"A","metadata":{"a":"'; DROP"}}"#,
            by: client)
        #expect(made.status == 201)
        let identity = try await sample.send("GET", "\(path)/identity", by: client)
        let url = try JSONDocument(Array(identity.body.utf8)).root["url"]?.string
        let again = try await sample.send(
            "GET", String(try #require(url).dropFirst(TestServer.base.count)), by: client)
        #expect(again.body == identity.body)
        #expect(again.status == 200)
    }

    @Test func `Unicode forms of one letter are two users (ruling 7)`() async throws {
        let sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        for name in ["%C3%A9", "e%CC%81"] {
            let made = try await sample.send(
                "POST", "/apps/{app}/users/\(name)/identity", #"{"display_name":"A"}"#, by: client)
            #expect(made.status == 201)
        }
    }

    @Test func `a patch of a megabyte is applied whole or rejected whole (R34)`() async throws {
        let sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        let operation = #"{"operation":"add","property":"blocks","value":"u1234"},"#
        let many = String(repeating: operation, count: 9_999) + operation.dropLast()
        let taken = try await sample.send(
            "PATCH", "/apps/{app}/users/ana", "[\(many)]", fields: patch, by: client)
        #expect(taken.status == 202)
        let before = try await sample.eventCount()
        let refused = try await sample.send(
            "PATCH", "/apps/{app}/users/ana", "[\(operation)\(many)]", fields: patch, by: client)
        #expect(refused.status == 422)
        #expect(try await sample.eventCount() == before)
    }

    @Test func `a read token cannot change users (1_4)`() async throws {
        var sample = try await SampleApplication.make()
        sample.variables["token"] = sample.variables["read_token"]
        let client = RouterClient(service: sample.server.service)
        let before = try await sample.eventCount()
        let requests = [
            ("POST", "/users/ana/identity", #"{"display_name":"A"}"#),
            ("PUT", "/users/ana/identity", #"{"display_name":"A"}"#),
            ("PATCH", "/users/ana/identity", "[]"), ("DELETE", "/users/ana/identity", ""),
            ("PUT", "/users/ana/following/bo", ""), ("DELETE", "/users/ana/following/bo", ""),
            ("POST", "/users/ana/following", "[]"),
            ("POST", "/users/ana/blocks", #"{"user_id":"bo"}"#),
            ("DELETE", "/users/ana/blocks/bo", ""), ("PATCH", "/users/ana", "[]"),
            ("PUT", "/users/ana/badge", #"{"external_unread_count":1}"#),
            ("PATCH", "/users/ana/badge", "[]"), ("DELETE", "/users/ana/sessions", ""),
            ("PATCH", "", #"{"operation":"set","property":"session_ttl_in_seconds","value":60}"#),
        ]
        for (method, path, body) in requests {
            let answer = try await sample.send(
                method, "/apps/{app}\(path)", body, fields: patch, by: client)
            #expect(answer.status == 403, "\(method) \(path)")
        }
        #expect(try await sample.eventCount() == before)
    }

    @Test func `concurrent reads never return half of an identity change (R110)`() async throws {
        let sample = try await SampleApplication.make()
        let client = SocketClient(port: sample.server.port)
        let full = { @Sendable (name: String) in
            #"{"display_name":"\#(name)","first_name":"\#(name)","metadata":{"n":"\#(name)"}}"#
        }
        _ = try await sample.send("PUT", "/apps/{app}/users/ana/identity", full("a"), by: client)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    guard number % 2 == 0 else {
                        let name = number % 4 == 1 ? "a" : "b"
                        let body = full(name)
                        _ = try await sample.send(
                            "PUT", "/apps/{app}/users/ana/identity", body, by: client)
                        return
                    }
                    let answer = try await sample.send(
                        "GET", "/apps/{app}/users/ana/identity", by: client)
                    let root = try JSONDocument(Array(answer.body.utf8)).root
                    #expect(root["display_name"]?.string == root["first_name"]?.string)
                    #expect(root["metadata"]?["n"]?.string == root["first_name"]?.string)
                }
            }
            try await group.waitForAll()
        }
    }

    private let patch = [(name: "Content-Type", value: "application/vnd.layer-patch+json")]
}
