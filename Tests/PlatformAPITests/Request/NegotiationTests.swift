import HTTP
import JSON
import Messaging
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `Unknown query parameters` {
    @Test(arguments: DescribedRoute.all)
    func `are ignored and named on every endpoint, or rejected on request (ruling 21)`(
        route: DescribedRoute
    ) async throws {
        let (operation, version) = (try await route.operation, route.version)
        var examples = try await route.examples()
        try await examples.prepare(operation)
        var request = try examples.request(operation)
        request.target += (request.target.contains("?") ? "&" : "?") + "colour=red"
        var strict = request
        strict.fields.append(("Prefer", "handling=strict"))
        let before = try await examples.sample.eventCount()
        let refused = try await examples.client.send(strict)
        #expect(refused.status == 422, "\(refused)")
        #expect(refused.body.contains(#""data":{"property":"colour"}"#))
        #expect(refused["Preference-Applied"] == "handling=strict")
        #expect(refused["Parley-Ignored-Parameters"] == nil)
        #expect(refused["Parley-Version"] == version.rawValue)
        #expect(examples.description.problem(refused, of: operation) == nil)
        #expect(try await examples.sample.eventCount() == before)

        let answer = try await examples.client.send(request)
        #expect(
            answer.status == operation.json["x-example"]?["status"]?.integer.map { Int($0) },
            "\(answer)")
        #expect(answer["Parley-Ignored-Parameters"] == "colour")
        #expect(answer["Parley-Version"] == version.rawValue)
        #expect(examples.description.problem(answer, of: operation) == nil)
    }

    @Test(arguments: Endpoint.routed.map { "\($0.method.rawValue) \($0.path)" })
    func `have no documented name (ruling 21)`(line: String) async throws {
        let endpoint = try #require(
            Endpoint.routed.first { "\($0.method.rawValue) \($0.path)" == line })
        for version in endpoint.versions {
            let names = endpoint.describe(version, MessagingLimits()).query.map(\.name)
            let target = names.map { name in "\(name)=1" }.joined(separator: "&")
            let query = try Query(RequestTarget("/?\(target)"), endpoint.queryNames)
            #expect(query.unknown.isEmpty, "\(version)")
            #expect(query.all.map(\.name) == names)
        }
    }

    /// A query and the expected header.
    private static let headers: [(query: String, header: String?)] = [
        ("page_size=1", nil), ("", nil), ("&&", nil), ("=5", nil), ("page_size=1&", nil),
        ("a", "a"), ("a=", "a"), ("a=1&a=2&b=3&a", "a, b"),
        // Names are percent-encoded, so that none can end the header or add another name.
        ("a%2Cb=1", "a%2Cb"), ("a+b=1", "a%20b"),
        ("a%0D%0ASet-Cookie:%20x=1", "a%0D%0ASet-Cookie%3A%20x"),
        ("%09%1F%7F=1", "%09%1F%7F"), ("%22%5C%25=1", "%22%5C%25"), ("a[b]=1", "a%5Bb%5D"),
        ("%C3%A9=1", "%C3%A9"), ("%E2%82%AC=1&%F0%9F%98%80", "%E2%82%AC, %F0%9F%98%80"),
        // Equal by Unicode's rules, different as bytes.
        ("%C3%A9=1&e%CC%81=1", "%C3%A9, e%CC%81"),
        (
            "PAGE_SIZE=1&page_size%20=1&%EF%BD%90age_size=1",
            "PAGE_SIZE, page_size%20, %EF%BD%90age_size"
        ),
        ("metadata=1&metadata.topic=keys", "metadata"),
    ]

    @Test(arguments: headers)
    func `are percent-encoded in the header (ruling 21)`(query: String, header: String?)
        async throws
    {
        let sample = try await SampleApplication.make(version: "3.0")
        for client in [
            RouterClient(service: sample.server.service) as any TestClient,
            SocketClient(port: sample.server.port),
        ] {
            let answer = try await sample.send(
                "GET", "/apps/{app}/conversations?\(query)", by: client)
            #expect(answer.status == 200, "\(answer)")
            #expect(answer["Parley-Ignored-Parameters"] == header)
            #expect(answer["Set-Cookie"] == nil)
        }
    }

    @Test func `are limited to ten in the header (ruling 21)`() async throws {
        let names = (0..<250).map { number in "p\(number)" }
        let answer = try await send("?" + names.joined(separator: "&"))
        #expect(answer.status == 200)
        #expect(
            answer["Parley-Ignored-Parameters"] == names.prefix(10).joined(separator: ", "))
    }

    @Test func `are truncated in the header`() async throws {
        let plain = try await send("?" + String(repeating: "n", count: 2000))
        #expect(
            plain["Parley-Ignored-Parameters"] == String(repeating: "n", count: 128) + "...")
        // Not inside an escape.
        let escaped = try await send("?" + String(repeating: "%E2%82%AC", count: 200))
        let header = try #require(escaped["Parley-Ignored-Parameters"])
        #expect(header.hasSuffix("..."))
        #expect(header.utf8.count == 126 + 3)
        let strict = try await send(
            "?" + String(repeating: "n", count: 2000), [("Prefer", "handling=strict")])
        #expect(strict.status == 422)
        #expect(strict.body.contains("`\(String(repeating: "n", count: 64))…` is not"))
    }

    @Test(arguments: [
        "?%zz=1", "?a=%ff", "?%00=1",
        "?" + Array(repeating: "a", count: 257).joined(separator: "&"),
    ])
    func `that cannot be decoded are malformed on every endpoint (H57, H61)`(
        query: String
    ) async throws {
        for path in ["/apps/{app}/conversations", "/apps/{app}/users/ana/badge"] {
            let sample = try await SampleApplication.make(version: "3.0")
            let answer = try await sample.send(
                "GET", path + query, by: RouterClient(service: sample.server.service))
            #expect(answer.status == 400, "\(answer)")
            #expect(answer["Parley-Ignored-Parameters"] == nil)
        }
    }

    @Test func `are not in the link to the next page`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service)
        for name in ["ana", "bo"] {
            let made = try await sample.send(
                "POST", "/apps/{app}/conversations", "{\"participants\":[\"\(name)\"]}", by: client)
            #expect(made.status == 201)
        }
        let page = try await sample.send(
            "GET", "/apps/{app}/conversations?colour=red&page_size=1", by: client)
        let link = try #require(page["Link"])
        #expect(link.contains("page_size=1"))
        #expect(!link.contains("colour"))
    }

    @Test func `are named before a stream of events begins (ruling 21, X3)`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        try await sample.sendMessages(1, in: try await sample.conversation())
        let stream = try LiveStream(sample, "?colour=red&after=0")
        _ = try await stream.next(1)
        #expect(stream.head.contains("Parley-Ignored-Parameters: colour\r\n"), "\(stream.head)")
        #expect(stream.head.contains("Parley-Version: 3.0\r\n"))
    }

    private func send(
        _ query: String, _ fields: [(name: String, value: String)] = []
    ) async throws -> PlainAnswer {
        let sample = try await SampleApplication.make(version: "3.0")
        return try await sample.send(
            "GET", "/apps/{app}/conversations\(query)", fields: fields,
            by: RouterClient(service: sample.server.service))
    }
}

@Suite struct `A patch without a body` {
    @Test(arguments: DescribedRoute.all.filter { route in route.name.hasPrefix("PATCH ") })
    func `changes nothing on every endpoint (ruling 24)`(route: DescribedRoute) async throws {
        let operation = try await route.operation
        var examples = try await route.examples()
        try await examples.prepare(operation)
        var request = try examples.request(operation)
        request.bytes = []
        let status = operation.json["x-example"]?["status"]?.integer.map { Int($0) }
        let before = try await examples.sample.eventCount()
        #expect(try await examples.client.send(request).status == status)
        request.fields.removeAll { $0.name == "Content-Type" }
        let answer = try await examples.client.send(request)
        #expect(answer.status == status, "\(answer)")
        #expect(examples.description.problem(answer, of: operation) == nil)
        #expect(try await examples.sample.eventCount() == before)
    }
}

@Suite struct `Strict Accept` {
    @Test(arguments: [
        (String?.none, 406), ("*/*", 406), ("application/json", 406), ("", 406),
        ("application/vnd.layer+json", 406), ("application/vnd.layer+json; version=4.0", 406),
        ("application/vnd.layer+json; version=3.0", 200),
        ("*/*, application/vnd.layer+json; version=2", 200),
    ])
    func `is required when api_strict_accept is set (ruling 31)`(
        accept: String?, status: Int
    ) async throws {
        let sample = try await SampleApplication.make(in: .strict)
        let answer = try await send("/apps/{app}/conversations", accept, sample)
        #expect(answer.status == status, "\(answer)")
        guard status == 406 else { return }
        #expect(answer["Parley-Version"] == nil)
        #expect(
            answer.body.contains(
                "must be of form application/vnd.layer+json; version=x.y, where x.y is 1.0, 1.1, 2.0 or 3.0.\""
            ))
        // It can change while requests are served (H196).
        sample.server.service.api.apply(PlatformSettings())
        let lenient = try await send("/apps/{app}/conversations", "*/*", sample)
        #expect(lenient.status == 200)
        #expect(lenient["Parley-Version"] == "3.0")
    }

    @Test func `does not affect event streams (X3)`() async throws {
        let sample = try await SampleApplication.make(in: .strict)
        let stream = try LiveStream(sample, "?after=0")
        try await sample.sendMessages(1, in: try await sample.conversation())
        _ = try await stream.next(1)
        #expect(stream.head.hasPrefix("HTTP/1.1 200"))
        let excluded = try await send("/apps/{app}/events", "text/event-stream;q=0", sample)
        #expect(excluded.status == 406)
        #expect(excluded.body.contains(", or text/event-stream.\""))
    }

    @Test(arguments: [
        ("PUT", "/apps/{app}/conversations", 405), ("GET", "/apps/{app}/nothing", 404),
        ("GET", "/apps/{app}/a%2", 400),
    ])
    func `is named in answers that no endpoint gives (ruling 31)`(
        method: String, path: String, status: Int
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        for (accept, version) in [
            ("application/vnd.layer+json; version=1.1", "1.1"), ("*/*", "3.0"),
            ("text/html", nil),
        ] {
            let answer = try await sample.send(
                PlainRequest(method: method, target: path, fields: [("Accept", accept)], body: ""),
                by: RouterClient(service: sample.server.service))
            #expect(answer.status == status)
            #expect(answer["Parley-Version"] == version)
        }
    }

    private func send(
        _ path: String, _ accept: String?, _ sample: SampleApplication
    ) async throws -> PlainAnswer {
        try await sample.send(
            PlainRequest(
                method: "GET", target: path,
                fields: [("Authorization", "Bearer {token}")]
                    + (accept.map { [("Accept", $0)] } ?? []), body: ""),
            by: RouterClient(service: sample.server.service))
    }
}

/// `Prefer: handling=strict` and the members of bodies (RFC 7240 section 4.4).
@Suite struct `Members under strict handling` {
    private static let strict = (name: "Prefer", value: "handling=strict")

    @Test(arguments: [
        (#"{"participants":["ana"],"distnct":true}"#, "distnct", "did you mean `distinct`?"),
        (#"{"participants":["ana"],"colour":"red"}"#, "colour", "known are `participants`"),
        (#"{"Participants":["ana"]}"#, "Participants", "did you mean `participants`?"),
    ])
    func `an unknown member is rejected with the nearest name, and nothing is stored`(
        body: String, property: String, text: String
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let before = try await sample.eventCount()
        let answer = try await create(body, [Self.strict], in: sample)
        let error = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == 422)
        #expect(answer["Preference-Applied"] == "handling=strict")
        #expect(error["id"]?.string == "invalid_property")
        #expect(error["data"]?["property"]?.string == property)
        #expect(error["message"]?.string?.contains(text) == true)
        #expect(try await sample.eventCount() == before)
    }

    @Test(arguments: [("3.0", false), ("2.0", true), ("1.1", true)])
    func `an unknown member is ignored without the preference, and before 3_0`(
        version: String, isStrict: Bool
    ) async throws {
        let sample = try await SampleApplication.make(version: version)
        let body = #"{"participants":["ana"],"distnct":true}"#
        let answer = try await create(body, isStrict ? [Self.strict] : [], in: sample)
        #expect(answer.status == 201)
        #expect(answer.body.contains(#""distinct":false"#))
    }

    @Test func `two swapped letters are one mistake`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let answer = try await sample.send(
            "PATCH", "/apps/{app}/users/ana/identity",
            #"[{"operation":"set","property":"display_name","vlaue":"Ana"}]"#,
            fields: [Self.strict, ("Content-Type", "application/vnd.layer-patch+json")],
            by: RouterClient(service: sample.server.service))
        #expect(answer.status == 422)
        #expect(answer.body.contains("`vlaue` is not known here; did you mean `value`?"))
    }

    @Test func `significance is known to creations, and ignored (5_1_1)`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        // The first creation makes the user whose path the second one has.
        for (path, value) in [
            ("/apps/{app}/conversations", #"{"level":"high"}"#),
            ("/apps/{app}/users/ana/conversations", #"{"level":"high"}"#),
            ("/apps/{app}/conversations", "5"), ("/apps/{app}/conversations", "null"),
        ] {
            let answer = try await sample.send(
                "POST", path, #"{"participants":["ana","bo"],"significance":\#(value)}"#,
                fields: [Self.strict], by: RouterClient(service: sample.server.service))
            #expect(answer.status == 201, "\(answer.body)")
            #expect(!answer.body.contains("significance"))
        }
    }

    @Test(arguments: [
        (
            "POST", "/conversations/{C}/messages",
            #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"text/plain","body":"x"}]}"#
        ),
        (
            "POST", "/announcements",
            #"{"recipients":["ana"],"sender":{"user_id":"ana"},"parts":[{"mime_type":"text/plain","body":"x"}]}"#
        ),
        ("PUT", "/users/ana/identity", #"{"display_name":"Ana","type":"bot"}"#),
        (
            "POST", "/notifications",
            #"{"recipients":["ana"],"notification":{"recipients":[{"user_id":"ana","text":"x"}]}}"#
        ),
        (
            "POST", "/notifications",
            #"{"recipients":["ana"],"notification":{"recipients":{"ana":{"text":"x"}}}}"#
        ),
        (
            "PATCH", "/conversations/{C}",
            #"[{"operation":"add","property":"participants","value":"bo","index":0}]"#
        ),
        (
            "PATCH", "/users/ana",
            #"[{"operation":"add","property":"blocks","value":"bo","index":0}]"#
        ),
    ])
    func `an older name of a member, or one that is ignored, is known`(
        method: String, path: String, body: String
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let conversation = try await create(#"{"participants":["ana"]}"#, [], in: sample)
        let id = try JSONDocument(Array(conversation.body.utf8)).root["id"]?.string
        let uuid = try #require(id?.split(separator: "/").last)
        let type =
            method == "PATCH" ? "application/vnd.layer-patch+json" : "application/json"
        for fields in [[], [Self.strict]] {
            let answer = try await sample.send(
                method, "/apps/{app}" + path.replacing("{C}", with: uuid), body,
                fields: fields + [("Content-Type", type)],
                by: RouterClient(service: sample.server.service))
            #expect((200..<300).contains(answer.status), "\(answer.body)")
        }
    }

    @Test func `keys of metadata are not checked`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let body = #"{"participants":["ana"],"metadata":{"distnct":{"any":"x"}}}"#
        let answer = try await create(body, [Self.strict], in: sample)
        #expect(answer.status == 201)
        #expect(answer["Preference-Applied"] == "handling=strict")
    }

    @Test(arguments: DescribedRoute.all.filter { route in route.version == .v3_0 })
    func `the example of each endpoint has known members only`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        guard operation.jsonBody != nil else { return }
        var examples = try await route.examples()
        try await examples.prepare(operation)
        var request = try examples.request(operation)
        request.fields.append(Self.strict)
        let answer = try await examples.client.send(request)
        #expect(answer.status < 300, "\(answer.body)")
    }

    @Test(arguments: [
        (#"{"a":1}"#, nil), (#"{"a":{"b":1}}"#, nil), (#"{"list":[{"c":1}]}"#, nil),
        (#"{"b":1}"#, "b"), (#"{"list":[{"c":1},{"d":1}]}"#, "list.d"),
        (#"{"list":{"d":1}}"#, "list.d"), (#"{"free":{"x":{"y":1}}}"#, nil), (#"[1]"#, nil),
        (#"{"either":{"m":1,"n":1}}"#, nil), (#"{"either":{"o":1}}"#, "either.o"),
        (#"{"map":{"x":{"c":1}}}"#, nil), (#"{"map":{"x":{"d":1}}}"#, "map.x.d"),
    ])
    func `a schema allows its members, those of alternatives, and any of an open object`(
        json: String, path: String?
    ) throws {
        let element = JSONSchema.object([.required("c", .integer)])
        let schema = JSONSchema.named(
            "Sample",
            .object([
                .optional("a", .integer), .optional("list", .array(of: element)),
                .optional("free", .object([])),
                .optional("map", .object([], others: element)),
                .optional(
                    "either",
                    .anyOf([
                        .object([.required("m", .integer)]), .object([.required("n", .integer)]),
                    ])),
            ]))
        let found = schema.unknownMember(in: try JSONDocument(Array(json.utf8)).root)
        #expect(found?.path.joined(separator: ".") == path)
    }

    private func create(
        _ body: String, _ fields: [(name: String, value: String)], in sample: SampleApplication
    ) async throws -> PlainAnswer {
        try await sample.send(
            "POST", "/apps/{app}/conversations", body, fields: fields,
            by: RouterClient(service: sample.server.service))
    }
}
