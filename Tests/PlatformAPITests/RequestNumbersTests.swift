import JSON
import Messaging
import TestSupport
import Testing

/// Numbers and dates in bodies, queries, paths and headers, at the limits of their ranges and beyond.
@Suite struct `Numbers of requests` {
    private static let numbers = [
        "-1", "0", "2147483648", "68719476736", "137438953472", "9007199254740991",
        "9007199254740992", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "1e308", "1e400", "1.5", "-0.0", "1e-400", "340282366920938463463374607431768211456",
    ]

    @Test(arguments: numbers)
    func `no number in a request crashes the server or gets a 5xx (ruling 25)`(number: String)
        async throws
    {
        let objects = try await SampleObjects()
        for (method, path, body) in Self.requests {
            let answer = try await objects.send(
                method, path.replacing("{N}", with: number.replacing("+", with: "%2B")),
                body.replacing("{N}", with: number))
            #expect(answer.status < 500, "\(number) in \(method) \(path) \(body): \(answer)")
        }
        for name in ["Upload-Content-Length", "Last-Event-ID", "Idempotency-Key"] {
            let answer = try await objects.send(
                "POST", "/conversations/{C}/content", "",
                [("Upload-Content-Type", "a/b"), (name, number)])
            #expect(answer.status < 500, "\(name): \(number): \(answer)")
        }
        try await objects.sample.readEverything("\(number)")
    }

    private static let dates = [
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00%2B23:59", "10000-01-01T00:00:00Z",
        "292277026596-12-04T15:30:08Z", "-0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
        "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.9999999999999999999999999Z",
        "9223372036854775807",
    ]

    @Test(arguments: dates) func `no date in a filter crashes the server (X9)`(
        date: String
    ) async throws {
        let objects = try await SampleObjects()
        for path in [
            "/conversations?created_after=", "/conversations?created_before=",
            "/users/ana/conversations?created_after=", "/users/ana/conversations?created_before=",
            "/conversations/{C}/messages?sent_after=", "/conversations/{C}/messages?sent_before=",
            "/users/ana/conversations/{C}/messages?sent_after=",
            "/users/ana/conversations/{C}/messages?unread_by=bo&sent_before=",
            "/users?created_after=", "/events?at=",
        ] {
            let answer = try await objects.send("GET", path + date)
            #expect(answer.status < 500, "\(path)\(date): \(answer)")
        }
    }

    /// `{N}` is the number; `{C}`, `{M}`, `{W}` and `{X}` are a conversation, a message, a webhook, a content.
    private static let requests: [(String, String, String)] = [
        ("POST", "/users/bo/conversations/{C}/mark_all_read", #"{"position":{N}}"#),
        ("PUT", "/users/bo/badge", #"{"external_unread_count":{N}}"#),
        (
            "PATCH", "/users/bo/badge",
            #"[{"operation":"set","property":"external_unread_count","value":{N}}]"#
        ),
        ("PATCH", "", #"[{"operation":"set","property":"session_ttl_in_seconds","value":{N}}]"#),
        (
            "POST", "/conversations/{C}/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"a"}],"schedule":{"delay_in_seconds":{N}}}"#
        ),
        (
            "POST", "/conversations/{C}/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"a"}],"schedule":{"delay_in_seconds":300,"typing_indicator_in_seconds":{N}}}"#
        ),
        (
            "POST", "/conversations/{C}/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","content":{"id":"{X}","size":{N}}}]}"#
        ),
        (
            "POST", "/conversations/{C}/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":{N}}]}"#
        ),
        ("POST", "/conversations", #"{"participants":[{N}],"distinct":{N},"metadata":{"a":{N}}}"#),
        ("POST", "/conversations", #"{"participants":["ana"],"metadata":{"a":{N}}}"#),
        ("POST", "/conversations", #"{"participants":["ana"],"id":{N}}"#),
        (
            "PATCH", "/conversations/{C}",
            #"[{"operation":"add","property":"participants","index":{N},"value":"bo"}]"#
        ),
        ("POST", "/webhooks/{W}/replay", #"{"after":{N}}"#),
        ("POST", "/webhooks/{W}/replay", #"{"after":0,"before":{N}}"#),
        ("POST", "/webhooks/{W}/replay", #"{"after":{N},"before":{N}}"#),
        ("POST", "/webhooks/{W}/rotate_secret", #"{"secret":"n3w","keep_for_seconds":{N}}"#),
        ("GET", "/webhooks/{W}/deliveries?page_size={N}", ""),
        ("GET", "/webhooks?page_size={N}", ""),
        ("GET", "/events?after={N}", ""), ("GET", "/events?after=0&limit={N}", ""),
        ("GET", "/events?after=0&wait={N}", ""), ("GET", "/events?before={N}", ""),
        ("GET", "/events?order=desc&before={N}&conversation={N}&user={N}", ""),
        ("GET", "/conversations/{C}/receipts?from={N}&to={N}&after_user={N}&limit={N}", ""),
        ("GET", "/webhooks/{W}/deliveries?after={N}", ""),
        ("GET", "/conversations?page_size={N}", ""), ("GET", "/users?page_size={N}", ""),
        ("GET", "/conversations?from_id={N}", ""),
        ("GET", "/conversations/{C}?as_of={N}", ""),
        ("GET", "/conversations/{C}/messages?as_of={N}", ""),
        ("GET", "/users/ana/conversations/{C}?as_of={N}", ""),
        ("GET", "/users/ana/conversations/{C}/messages?as_of={N}", ""),
        ("GET", "/conversations/{C}/messages?page_size={N}", ""),
        ("GET", "/conversations/{C}/messages?inline_max_size={N}", ""),
        ("GET", "/messages/{M}?inline_max_size={N}", ""),
        ("GET", "/users/ana/conversations?page_size={N}", ""),
        ("GET", "/users/ana/following?page_size={N}", ""),
        ("GET", "/users/ana/identities?page_size={N}", ""),
        ("GET", "/users/ana/announcements?page_size={N}", ""),
        ("GET", "/conversations/{C}/messages/{M}/parts/{N}", ""),
        ("PUT", "/conversations/{C}/messages/{M}/parts/{N}", #"{"mime_type":"a/b","body":"a"}"#),
        ("DELETE", "/conversations/{C}/messages/{M}/parts/{N}", ""),
        (
            "PUT", "/users/bo/identity",
            #"{"display_name":"Bo","metadata":{"a":{N}},"phone_number":{N}}"#
        ),
        ("PUT", "/export_schedule", #"{"interval":{N},"events":["message.sent"]}"#),
        ("POST", "/notifications", #"{"recipients":["ana"],"notification":{"text":{N}}}"#),
    ]

    /// A conversation with a message, a webhook and a content.
    private struct SampleObjects {
        let sample: SampleApplication
        private let names: [String: String]

        init() async throws {
            sample = try await SampleApplication.make(version: "3.0")
            let conversation = try await sample.conversation()
            let base = "/apps/{app}/conversations/\(conversation.uuid)"
            let sent = try await sample.send(
                "POST", "\(base)/messages",
                #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"a"}]}"#, by: sample.client)
            let content = try await sample.send(
                "POST", "\(base)/content",
                fields: [("Upload-Content-Type", "a/b"), ("Upload-Content-Length", "5")],
                by: sample.client)
            let webhook = try await Self.send(
                sample, "POST", "/webhooks",
                """
                {"version":"3.0","target_url":"https://hooks.example.org/in",\
                "events":["Message.created"],"secret":"s3cret"}
                """, [])
            func id(_ answer: PlainAnswer) throws -> String {
                #expect(answer.status == 201, "\(answer)")
                let id = try JSONDocument(Array(answer.body.utf8)).root["id"]?.string
                return String(try #require(id, "\(answer)").suffix(36))
            }
            names = [
                "{C}": conversation.uuid, "{M}": try id(sent), "{X}": try id(content),
                "{W}": try id(webhook),
            ]
        }

        func send(
            _ method: String, _ path: String, _ body: String = "",
            _ fields: [(name: String, value: String)] = []
        ) async throws -> PlainAnswer {
            try await Self.send(sample, method, filled(path), filled(body), fields)
        }

        private static func send(
            _ sample: SampleApplication, _ method: String, _ path: String, _ body: String,
            _ fields: [(name: String, value: String)]
        ) async throws -> PlainAnswer {
            let family = path.hasPrefix("/webhooks") ? ".webhooks" : ""
            var own = [
                (name: "Authorization", value: "Bearer {token}"),
                (name: "Accept", value: "application/vnd.layer\(family)+json; version=3.0"),
            ]
            if method == "PATCH" {
                own.append(("Content-Type", "application/vnd.layer-patch+json"))
            }
            return try await sample.client.send(
                PlainRequest(
                    method: method, target: "/apps/{app}\(path)".filled(with: sample.variables),
                    fields: try (own + fields).map { field in
                        (field.name, try field.value.filled(with: sample.variables))
                    }, body: body))
        }

        private func filled(_ text: String) -> String {
            names.reduce(text) { text, name in text.replacing(name.key, with: name.value) }
        }
    }
}
