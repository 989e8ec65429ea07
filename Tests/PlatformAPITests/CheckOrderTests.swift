import JSON
import Messaging
import MessagingWire
import Testing

/// Sends each endpoint a request with every error, then with one error less at a time.
@Suite struct `The order of checks` {
    @Test(arguments: DescribedRoute.all)
    func `checks have the same order on every endpoint, and store nothing (1_6, R114, X12)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        let examples = try await route.examples()
        let before = try await examples.sample.eventCount()
        let readsBody = operation.json["requestBody"] != nil
        var request = try examples.request(operation)
        let right = request
        request.bytes = Array("{".utf8)
        request.fields = [("Authorization", "Bearer none"), ("Accept", "text/plain")]
        try await expect(406, "invalid_header", request, operation, examples)

        request.set("Accept", right)
        if operation.method == "PATCH" {
            request.fields.append(("Content-Type", "text/plain"))
            try await expect(406, "invalid_header", request, operation, examples)
        }
        request.set("Content-Type", right)
        if route.needsCredential {
            try await expectCredential(of: route, request, operation, examples)
        }

        request.set("Authorization", right)
        if readsBody {
            try await expect(400, "invalid_request", request, operation, examples)
            request.bytes = Array("5".utf8)
            let answer = try await examples.client.send(request)
            #expect([400, 422].contains(answer.status), "\(answer)")
        }
        #expect(try await examples.sample.eventCount() == before)
    }

    /// Every request without a valid token is refused with 401; those of other applications, and of tokens that allow too
    /// little, with 403 (ruling 4). Without a session of a user 401, whatever else the token is (client-api 2.4).
    private func expectCredential(
        of route: DescribedRoute, _ request: PlainRequest, _ operation: DescribedAPI.Operation,
        _ examples: DescriptionExamples
    ) async throws {
        var request = request
        try await expect(401, "authentication_required", request, operation, examples)
        guard !route.isOfClients else {
            for token in ["token", "other_token", "suspended_token", "read_token"] {
                request.authorize(by: examples.sample.variables[token])
                try await expect(401, "authentication_required", request, operation, examples)
            }
            return
        }
        for token in ["other_token", "suspended_token"] {
            request.authorize(by: examples.sample.variables[token])
            try await expect(403, "invalid_app_id", request, operation, examples)
        }
        if operation.method != "GET" {
            request.authorize(by: examples.sample.variables["read_token"])
            try await expect(403, "access_denied", request, operation, examples)
        }
    }

    @Test(arguments: DescribedRoute.all)
    func `a body is validated before the names in the path (1_6, R114, ruling 7)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        guard let schema = operation.jsonBody?["schema"] else { return }
        var examples = try await route.examples()
        try await examples.prepare(operation)
        let invalidBodies = try InvalidBodies(
            in: examples.body(of: operation), schema, of: examples.description.root
        )
        .all.filter { invalidBody in invalidBody.code > 100 }
        // A missing member if the body has members: other operations are no patch.
        let invalidBody = try #require(
            invalidBodies.first { invalidBody in !invalidBody.path.isEmpty } ?? invalidBodies.first)
        let names = operation.path.split(separator: "/")
            .filter { name in name.hasPrefix("{") && name != "{app}" }
            .map { name in String(name.dropFirst().dropLast()) }
        // Neither a UUID nor a user id: the name has 129 characters.
        let tooLong = String(repeating: "%C3%A9", count: 129)
        let wrong = Dictionary(names.map { name in (name, String?(tooLong)) }) { first, _ in first }
        let known = try await examples.send(operation, body: invalidBody.body)
        let unknown = try await examples.send(operation, body: invalidBody.body, parameters: wrong)
        #expect(known.status == 422, "\(invalidBody): \(known)")
        #expect(unknown.status == known.status, "\(invalidBody): \(unknown)")
        #expect(unknown.body == known.body)
    }

    @Test(arguments: DescribedRoute.platform)
    func `an object of another application is not found (X12, ruling 7)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        var owner = try await route.examples()
        try await owner.prepare(operation)
        let otherApplication = try await route.examples()
        let names = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }
        guard names.contains(where: { !["{app}", "{user}"].contains($0) && !$0.hasSuffix("ed}") })
        else { return }
        let before = try await owner.sample.eventCount()
        var request = try owner.request(operation)
        request.target = request.target.replacing(
            owner.sample.application.uuid, with: otherApplication.sample.application.uuid)
        request.set("Authorization", try otherApplication.request(operation))
        try await expect(404, "not_found", request, operation, otherApplication)
        #expect(try await owner.sample.eventCount() == before)
    }

    private func expect(
        _ status: Int, _ id: String, _ request: PlainRequest, _ operation: DescribedAPI.Operation,
        _ examples: DescriptionExamples
    ) async throws {
        let answer = try await examples.client.send(request)
        let error = try? JSONDocument(Array(answer.body.utf8)).root
        let comment = Comment(rawValue: "\(operation.name): \(answer)")
        #expect(answer.status == status, comment)
        #expect(error?["id"]?.string == id, comment)
        #expect(examples.description.problem(answer, of: operation) == nil, comment)
    }
}

extension PlainRequest {
    /// Replaces the token.
    fileprivate mutating func authorize(by token: String?) {
        fields.removeAll { $0.name == "Authorization" }
        fields.append(("Authorization", "Bearer \(token ?? "")"))
    }

    /// Replaces a header by that of another request.
    fileprivate mutating func set(_ name: String, _ other: PlainRequest) {
        fields.removeAll { $0.name == name }
        guard let field = other.fields.first(where: { $0.name == name }) else { return }
        fields.insert(field, at: 0)
    }
}
