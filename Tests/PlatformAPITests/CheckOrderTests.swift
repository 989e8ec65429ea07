import HTTP
import JSON
import Messaging
import MessagingWire
import PlatformAPI
import Testing

/// Each line of the table is asked with everything wrong, then with one thing less wrong at a time.
@Suite struct `The order of checks` {
    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `it is the same on every line, and nothing is stored (1_6, R114, X12)`(
        line: String, version: APIVersion
    ) async throws {
        guard
            let operation = try await DescribedAPI.of(version.rawValue).operations
                .first(where: { "\($0.method) \($0.path)" == line })
        else { return }
        let play = try await DescriptionExamples(version: version.rawValue)
        let before = try await play.scene.eventCount()
        let readsBody = operation.json["requestBody"] != nil
        var request = try play.request(operation)
        let right = request
        request.bytes = Array("{".utf8)
        request.fields = [("Authorization", "Bearer none"), ("Accept", "text/plain")]
        try await expect(406, "invalid_header", request, operation, play)

        request.set("Accept", right)
        if operation.method == "PATCH" {
            request.fields.append(("Content-Type", "text/plain"))
            try await expect(406, "invalid_header", request, operation, play)
        }
        request.set("Content-Type", right)
        try await expect(401, "authentication_required", request, operation, play)

        for token in ["other_token", "suspended_token"] {
            request.authorize(by: play.scene.variables[token])
            try await expect(403, "invalid_app_id", request, operation, play)
        }
        if operation.method != "GET" {
            request.authorize(by: play.scene.variables["read_token"])
            try await expect(403, "access_denied", request, operation, play)
        }

        request.set("Authorization", right)
        if readsBody {
            try await expect(400, "invalid_request", request, operation, play)
            request.bytes = Array("5".utf8)
            let answer = try await play.client.ask(request)
            #expect([400, 422].contains(answer.status), "\(line): \(answer)")
        }
        #expect(try await play.scene.eventCount() == before)
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `a body is validated before the names in the path (1_6, R114, ruling 7)`(
        line: String, version: APIVersion
    ) async throws {
        guard
            let operation = try await DescribedAPI.of(version.rawValue).operations
                .first(where: { "\($0.method) \($0.path)" == line }),
            let schema = operation.jsonBody?["schema"]
        else { return }
        var play = try await DescriptionExamples(version: version.rawValue)
        try await play.prepare(operation)
        let mistakes = try Mistakes(in: play.body(of: operation), schema, of: play.description.root)
            .all.filter { mistake in mistake.code > 100 }
        // What a member lacks, where the body has members: a patch of something else is no patch.
        let mistake = try #require(
            mistakes.first { mistake in !mistake.path.isEmpty } ?? mistakes.first)
        let names = operation.path.split(separator: "/")
            .filter { name in name.hasPrefix("{") && name != "{app}" }
            .map { name in String(name.dropFirst().dropLast()) }
        // No UUID, and no user either: the name would have 129 characters.
        let tooLong = String(repeating: "%C3%A9", count: 129)
        let wrong = Dictionary(names.map { name in (name, String?(tooLong)) }) { first, _ in first }
        let known = try await play.send(operation, body: mistake.body)
        let unknown = try await play.send(operation, body: mistake.body, parameters: wrong)
        #expect(known.status == 422, "\(mistake): \(known)")
        #expect(unknown.status == known.status, "\(mistake): \(unknown)")
        #expect(unknown.body == known.body)
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `what another application has is not found (X12, ruling 7)`(
        line: String, version: APIVersion
    ) async throws {
        guard
            let operation = try await DescribedAPI.of(version.rawValue).operations
                .first(where: { "\($0.method) \($0.path)" == line })
        else { return }
        var owner = try await DescriptionExamples(version: version.rawValue)
        try await owner.prepare(operation)
        let stranger = try await DescriptionExamples(version: version.rawValue)
        let names = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }
        guard names.contains(where: { !["{app}", "{user}"].contains($0) && !$0.hasSuffix("ed}") })
        else { return }
        let before = try await owner.scene.eventCount()
        var request = try owner.request(operation)
        request.target = request.target.replacing(
            owner.scene.application.uuid, with: stranger.scene.application.uuid)
        request.set("Authorization", try stranger.request(operation))
        try await expect(404, "not_found", request, operation, stranger)
        #expect(try await owner.scene.eventCount() == before)
    }

    private func expect(
        _ status: Int, _ id: String, _ request: PlainRequest, _ operation: DescribedAPI.Operation,
        _ play: DescriptionExamples
    ) async throws {
        let answer = try await play.client.ask(request)
        let error = try? JSONDocument(Array(answer.body.utf8)).root
        let place = Comment(rawValue: "\(operation.name): \(answer)")
        #expect(answer.status == status, place)
        #expect(error?["id"]?.string == id, place)
        #expect(play.description.problem(answer, of: operation) == nil, place)
    }
}

extension PlainRequest {
    /// Comes with another token.
    fileprivate mutating func authorize(by token: String?) {
        fields.removeAll { $0.name == "Authorization" }
        fields.append(("Authorization", "Bearer \(token ?? "")"))
    }

    /// Takes a field over from another request, in place of its own.
    fileprivate mutating func set(_ name: String, _ other: PlainRequest) {
        fields.removeAll { $0.name == name }
        guard let field = other.fields.first(where: { $0.name == name }) else { return }
        fields.insert(field, at: 0)
    }
}
