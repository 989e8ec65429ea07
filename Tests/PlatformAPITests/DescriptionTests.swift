import HTTP
import JSON
import Messaging
import MessagingWire
import PlatformAPI
import Testing

@Suite struct `The OpenAPI description` {
    @Test(arguments: APIVersion.allCases)
    func `has exactly the endpoints of the table, with unique names (X11)`(
        version: APIVersion
    ) async throws {
        let description = try await DescribedAPI.of(version.rawValue)
        let routes = Endpoint.all.filter { $0.versions.contains(version) }
            .map { "\($0.method.rawValue) \($0.path)" }
        #expect(
            Set(description.operations.map { "\($0.method) \($0.path)" }) == Set(routes))
        #expect(Set(description.operations.map(\.name)).count == routes.count)
        #expect(description.root["openapi"]?.string == "3.1.0")
        #expect(description.root["info"]?["version"]?.string == version.rawValue)
    }

    @Test(arguments: APIVersion.allCases)
    func `every parameter of a path is described (X11)`(version: APIVersion) async throws {
        for operation in try await DescribedAPI.of(version.rawValue).operations {
            let described = (operation.json["parameters"]?.elements ?? operation.json.elements)
                .filter { $0["in"]?.string == "path" }.compactMap { $0["name"]?.string }
            let placeholders = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }
                .map { String($0.dropFirst().dropLast()) }
            #expect(described == placeholders, "\(operation.path)")
        }
    }

    @Test(arguments: APIVersion.allCases)
    func `every response can have the headers about its interpretation (rulings 21, 31)`(
        version: APIVersion
    ) async throws {
        let description = try await DescribedAPI.of(version.rawValue)
        let names = ["Parley-Version", "Parley-Ignored-Parameters"]
        for name in names {
            let header = description.root["components"]?["headers"]?[name]
            #expect(header?["description"]?.string?.hasSuffix(".") == true)
        }
        let shared = description.root["components"]?["responses"]?.members.map(\.value) ?? []
        #expect(!shared.isEmpty)
        for operation in description.operations {
            let own = operation.json["responses"]?.members.map(\.value)
                .filter { $0["$ref"] == nil }
            for answer in (own ?? []) + shared {
                #expect(
                    Set(names).isSubset(of: Set(answer["headers"]?.members.map(\.key) ?? [])))
            }
        }
    }

    @Test(arguments: APIVersion.allCases)
    func `every reference can be resolved (X11)`(version: APIVersion) async throws {
        let root = try await DescribedAPI.of(version.rawValue).root
        func references(_ value: JSONValue) -> [String] {
            value.members.flatMap { name, member in
                name == "$ref" ? [member.string ?? ""] : references(member)
            } + value.elements.flatMap(references)
        }
        for reference in Set(references(root)) {
            var found: JSONValue? = root
            for name in reference.split(separator: "/").dropFirst() { found = found?[String(name)] }
            #expect(found != nil, "\(reference)")
        }
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `every example gets its documented response (X11)`(
        route: String, version: APIVersion
    ) async throws {
        let isOffered = Endpoint.all.filter { $0.versions.contains(version) }
            .contains { "\($0.method.rawValue) \($0.path)" == route }
        guard isOffered else { return }
        var examples = try await DescriptionExamples(version: version.rawValue)
        let operation = try #require(
            examples.description.operations.first { "\($0.method) \($0.path)" == route })
        try await examples.prepare(operation)
        let answer = try await examples.send(operation)
        #expect(
            answer.status == operation.json["x-example"]?["status"]?.integer.map { Int($0) },
            "\(answer.body)")
        #expect(examples.description.problem(answer, of: operation) == nil)
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `every example under a key is executed once and replayed (X2)`(
        route: String, version: APIVersion
    ) async throws {
        guard route.hasPrefix("POST ") || route.hasPrefix("PATCH ") else { return }
        var examples = try await DescriptionExamples(version: version.rawValue)
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
        #expect(first.status == operation.json["x-example"]?["status"]?.integer.map { Int($0) })
        let count = try await examples.sample.eventCount()
        let second = try await examples.client.send(request)
        #expect(second.status == first.status)
        #expect(second.body == first.body)
        #expect(second["Idempotent-Replayed"] == "true")
        #expect(try await examples.sample.eventCount() == count)
        guard operation.json["requestBody"] != nil else { return }
        request.bytes = Array("{}".utf8)
        #expect([400, 422].contains(try await examples.client.send(request).status))
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `every example matches its schema (X11)`(
        route: String, version: APIVersion
    ) async throws {
        let description = try await DescribedAPI.of(version.rawValue)
        guard
            let operation = description.operations.first(where: {
                "\($0.method) \($0.path)" == route
            }),
            let content = operation.json["requestBody"]?["content"]?.members.first(where: { _ in
                true
            })
        else { return }
        let example = try #require(content.value["example"], "\(route) has a body and no example")
        let schema = try #require(content.value["schema"])
        #expect(SchemaCheck(root: description.root).problem(example, schema) == nil)
    }

    @Test func `the client library writes the examples of the Client API as they are read (K1)`()
        async throws
    {
        let ana = try #require(UserID("ana"))
        let limits = MessagingLimits()
        var known: Set<String> = [
            "createConversation", "patchConversation", "sendMessage", "sendReceipts",
        ]
        for operation in try await DescribedAPI.ofClients("3.0").operations {
            guard known.remove(operation.name) != nil else { continue }
            let example = try #require(operation.jsonBody?["example"])
            func again(_ bytes: [UInt8]) throws -> JSONValue { try JSONDocument(bytes).root }
            switch operation.name {
            case "createConversation":
                let draft = try ConversationDraftJSON.read(example, .v3_0, limits, by: .user(ana))
                let body = try again(ConversationDraftJSON.body(draft))
                #expect(
                    try ConversationDraftJSON.read(body, .v3_0, limits, by: .user(ana)) == draft)
            case "patchConversation":
                let patches = try ConversationPatchJSON.read(example, .v3_0, limits)
                let body = try again(ConversationPatchJSON.body(patches))
                #expect(try ConversationPatchJSON.read(body, .v3_0, limits) == patches)
            case "sendMessage":
                let draft = try MessageDraftJSON.read(example, by: ana)
                let body = try again(MessageDraftJSON.userBody(draft))
                #expect(try MessageDraftJSON.read(body, by: ana) == draft)
            default:
                let receipt = try ReceiptJSON.readPositions(example)
                let body = try again(
                    ReceiptJSON.body(receipt.kind, receipt.positions, knownAt: receipt.cursor))
                #expect(try ReceiptJSON.readPositions(body) == receipt)
            }
        }
        #expect(known.isEmpty)
    }

    @Test func `every event type is described in 3.0, and real events match (X3, X11)`()
        async throws
    {
        let root = try await DescribedAPI.of("3.0").root
        let names = root["webhooks"]?.members.map(\.key) ?? []
        #expect(Set(names).isSuperset(of: EventType.allCases.map(\.rawValue)))
        let sample = try await SampleApplication.make(version: "3.0")
        try await sample.sendMessages(2, in: try await sample.conversation())
        try await sample.cycleWebhookStates()
        let answer = try await sample.send(
            "GET", "/apps/{app}/events", by: RouterClient(service: sample.server.service))
        for event in try JSONDocument(Array(answer.body.utf8)).root["events"]?.elements
            .map(\.self) ?? []
        {
            let type = event["type"]?.string ?? ""
            let schema = root["components"]?["schemas"]?["Event.\(type)"]
            #expect(
                SchemaCheck(root: root).problem(event, try #require(schema)) == nil, "\(type)")
        }
    }

    @Test(arguments: [
        ("1.0", WebhookVersion.v1_0), ("1.1", .v1_0), ("2.0", .v2_0), ("3.0", .v3_0),
    ])
    func `every webhook body is described, for all topics (X6, X11)`(
        version: String, webhooks: WebhookVersion
    ) async throws {
        let root = try await DescribedAPI.of(version).root
        let types = WebhookTopic.all(in: webhooks).map { topic in
            WebhookTopicJSON.text(topic, webhooks)
        }
        for type in types + ["webhook.test"] {
            let operation = try #require(root["webhooks"]?[type]?["post"], "\(type)")
            let media = "application/vnd.layer.webhooks+json; version=\(webhooks.rawValue)"
            #expect(operation["requestBody"]?["content"]?[media]?["schema"] != nil, "\(type)")
            let fields = operation["parameters"]?.elements.compactMap { field in
                field["name"]?.string
                    ?? field["$ref"]?.string?.split(separator: "/").last
                    .map(String.init)
            }
            #expect(
                fields?.sorted() == [
                    "layer-webhook-event-type", "layer-webhook-id", "layer-webhook-request-id",
                    "layer-webhook-signature", "traceparent", "webhook-id", "webhook-signature",
                    "webhook-timestamp",
                ])
        }
        for field in root["components"]?["parameters"]?.members.map(\.key) ?? [] {
            #expect(
                field.hasPrefix("layer-webhook-") || field.hasPrefix("webhook-")
                    || field == "traceparent")
        }
    }

    // MARK: - Serving

    @Test func `without a version is that of the latest version, without a credential (X11)`()
        async throws
    {
        let answer = try await send("/openapi.json")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json; charset=UTF-8")
        #expect(answer.body.contains(#""version":"3.0""#))
    }

    @Test func `is refused for an unknown version (X11)`() async throws {
        let answer = try await send("/openapi.json?version=4.0")
        #expect(answer.status == 422)
        #expect(answer.body.contains(#""data":{"property":"version"}"#))
    }

    @Test func `is sent compressed, each coding with its own ETag (X11)`() async throws {
        let plain = try await send("/openapi.json")
        let coded = try await send("/openapi.json", [("Accept-Encoding", "gzip")])
        #expect(coded["Content-Encoding"] == "gzip")
        #expect(coded["Vary"] == "Accept-Encoding")
        #expect(coded["ETag"] != plain["ETag"])
        #expect(coded.body.utf8.count < plain.body.utf8.count / 4)
    }

    @Test func `is revalidated with 304 (X11)`() async throws {
        let tag = try #require(try await send("/openapi.json")["ETag"])
        let again = try await send("/openapi.json", [("If-None-Match", tag)])
        #expect(again.status == 304)
        #expect(again["ETag"] == tag)
        #expect(again.body.isEmpty)
    }

    private func send(
        _ target: String, _ fields: [(name: String, value: String)] = []
    ) async throws -> PlainAnswer {
        try await RouterClient(service: try await TestServer.shared.service).send(
            PlainRequest(method: "GET", target: target, fields: fields, body: ""))
    }
}
