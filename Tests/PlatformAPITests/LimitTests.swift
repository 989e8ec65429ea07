import JSON
import Messaging
import Testing

/// Limits set by the operator (ruling 35).
@Suite struct `Configured limits` {
    private static func limits(participants: Int) -> MessagingLimits {
        var limits = MessagingLimits()
        limits.participants = participants
        limits.messageBytes = 5000
        return limits
    }

    @Test func `exceeding api_max_participants is rejected with the limit in every way`()
        async throws
    {
        let server = try await TestServer.limited(Self.limits(participants: 3))
        for version in ["1.0", "2.0", "3.0"] {
            let sample = try await SampleApplication.make(version: version, in: server)
            func send(_ method: String, _ path: String, _ body: String) async throws -> PlainAnswer
            {
                let type =
                    method == "PATCH" ? "application/vnd.layer-patch+json" : "application/json"
                return try await sample.send(
                    method, "/apps/{app}\(path)", body, fields: [("Content-Type", type)],
                    by: RouterClient(service: server.service))
            }
            let made = try await send("POST", "/conversations", #"{"participants":["a","b","c"]}"#)
            #expect(made.status == 201, "\(made)")
            let id = try #require(made["Location"]?.split(separator: "/").last)
            let refused = [
                try await send("POST", "/conversations", #"{"participants":["a","b","c","d"]}"#),
                try await send(
                    "POST", "/conversations", #"{"participants":["a","b","c","d"],"distinct":true}"#
                ),
                try await send(
                    "POST", "/users/d/conversations", #"{"participants":["a","b","c"]}"#),
                try await send(
                    "PATCH", "/conversations/\(id)",
                    #"[{"operation":"add","property":"participants","value":"d"}]"#),
                try await send(
                    "PATCH", "/conversations/\(id)",
                    #"[{"operation":"set","property":"participants","value":["d","e","f","g"]}]"#),
                try await send(
                    "PATCH", "/users/a/conversations/\(id)",
                    #"[{"operation":"add","property":"participants","value":"d"}]"#),
            ]
            for answer in refused {
                #expect(answer.status == 422, "\(answer)")
                #expect(
                    answer.body.contains("a conversation has 1 to 3.")
                        || answer.body.contains("a conversation may have at most 3."), "\(answer)")
                #expect(answer.body.contains(#""data":{"property":"participants"}"#), "\(answer)")
            }
        }
    }

    @Test func `an imported conversation above the limit is rejected with line, member and limit`()
        async throws
    {
        let server = try await TestServer.limited(Self.limits(participants: 1))
        let sample = try await SampleApplication.make(version: "3.0", in: server)
        let lines = SampleImport(sample).lines
        let line = try #require(lines.firstIndex { $0.contains(#""record":"conversation""#) }) + 1
        let answer = try await sample.importLines(Array(lines.joined(separator: "\n").utf8))
        #expect(answer.status == 422, "\(answer)")
        let expected = "Line \(line): participants must name 1 to 1 current participants"
        #expect(answer.body.contains(expected), "\(answer)")
        #expect(answer.body.contains(#""line":\#(line)"#), "\(answer)")
    }

    @Test func `a conversation above a lowered limit can be read, and only lose participants`()
        async throws
    {
        let server = try await TestServer.limited(Self.limits(participants: 3))
        var sample = try await SampleApplication.make(version: "3.0", in: server)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["a","b","c"]}"#,
            by: RouterClient(service: server.service))
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        sample = try await sample.reopened(limits: Self.limits(participants: 1))
        let client = RouterClient(service: sample.server.service)
        func patch(_ operation: String, _ user: String) async throws -> PlainAnswer {
            try await sample.send(
                "PATCH", "/apps/{app}/conversations/{C}",
                #"[{"operation":"\#(operation)","property":"participants","id":"layer:///identities/\#(user)"}]"#,
                fields: [("Content-Type", "application/vnd.layer-patch+json")], by: client)
        }
        let read = try await sample.send("GET", "/apps/{app}/conversations/{C}", by: client)
        #expect(read.status == 200 && read.body.contains("layer:///identities/c"), "\(read)")
        #expect(try await patch("remove", "b").status == 204)
        let added = try await patch("add", "d")
        #expect(
            added.status == 422 && added.body.contains("a conversation may have at most 1."),
            "\(added)")
        let sent = try await sample.send(
            "POST", "/apps/{app}/users/a/conversations/{C}/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"x"}]}"#, by: client)
        #expect(sent.status == 201, "\(sent)")
    }

    @Test func `announcements, uploads and messages are limited by uploads_max_upload_size`()
        async throws
    {
        let server = try await TestServer.limited(Self.limits(participants: 3))
        var sample = try await SampleApplication.make(version: "3.0", in: server)
        let client = RouterClient(service: server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["a","b"]}"#, by: client)
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        func announce(_ length: String) async throws -> PlainAnswer {
            try await sample.send(
                "POST", "/apps/{app}/conversations/{C}/content",
                fields: [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", length)],
                by: client)
        }
        #expect(try await announce("5000").status == 201)
        for length in ["5001", "9223372036854775808", "99999999999999999999999"] {
            let refused = try await announce(length)
            #expect(refused.status == 422, "\(refused)")
            #expect(
                refused.body.contains(
                    "`Upload-Content-Length` is above the limit of 5,000 bytes"),
                "\(refused)")
        }
        let created = try await sample.send(
            "POST", "/uploads", fields: [("Tus-Resumable", "1.0.0"), ("Upload-Length", "5001")],
            by: client)
        #expect(created.status == 413 && created.body.contains("5000 bytes"), "\(created)")
        let part = #"{"mime_type":"a/b","body":"\#(String(repeating: "x", count: 1700))"}"#
        for (parts, status) in [(2, 201), (3, 422)] {
            let sent = try await sample.send(
                "POST", "/apps/{app}/users/a/conversations/{C}/messages",
                #"{"parts":[\#(Array(repeating: part, count: parts).joined(separator: ","))]}"#,
                by: client)
            #expect(sent.status == status, "\(sent)")
            #expect(
                status == 201 || sent.body.contains("a message may have at most 5,000 bytes"),
                "\(sent)")
        }
    }

    @Test func `the OpenAPI description has the configured limits`() async throws {
        let server = try await TestServer.limited(Self.limits(participants: 3))
        let answer = try await RouterClient(service: server.service).send(
            PlainRequest(method: "GET", target: "/openapi.json", fields: [], body: ""))
        let root = try JSONDocument(Array(answer.body.utf8)).root
        let schemas = root["components"]?["schemas"]
        for name in ["ConversationDraft", "UserConversationDraft"] {
            let bound = schemas?[name]?["properties"]?["participants"]?["maxItems"]
            #expect(bound.map { Array($0.raw) } == Array("3".utf8), "\(name)")
        }
        #expect(answer.body.contains(#""maximum":5000"#))
    }
}
