import Testing

@Suite struct `Idempotency keys on requests` {
    private static let draft = #"{"participants":["ana","bo"]}"#

    @Test(arguments: [
        "", "two words", "tab\there", "k\u{E4}y", "k\u{7F}", "a, b",
        String(repeating: "k", count: 256),
    ])
    func `are validated before the body is read (ruling 3)`(
        key: String
    ) async throws {
        let sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        let before = try await sample.eventCount()
        for body in [Self.draft, "{"] {
            let answer = try await sample.send(
                "POST", "/apps/{app}/conversations", body, fields: [("Idempotency-Key", key)],
                by: client)
            #expect(answer.status == 400)
            #expect(answer.body.contains(#""id":"invalid_request_id","code":3,"#))
        }
        #expect(try await sample.eventCount() == before)
    }

    @Test func `are rejected when repeated (ruling 3)`() async throws {
        let sample = try await SampleApplication.make()
        let answer = try await sample.send(
            "POST", "/apps/{app}/conversations", Self.draft,
            fields: [("Idempotency-Key", "a"), ("Idempotency-Key", "a")],
            by: RouterClient(service: sample.server.service))
        #expect(answer.status == 400)
    }

    @Test func `are not checked without a valid credential (1_6)`() async throws {
        let sample = try await SampleApplication.make()
        let answer = try await RouterClient(service: sample.server.service).send(
            PlainRequest(
                method: "POST", target: "/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55/conversations",
                fields: [
                    ("Authorization", "Bearer unseen"), ("Idempotency-Key", "a b"),
                    ("Accept", "application/vnd.layer+json; version=1.0"),
                ], body: ""))
        #expect(answer.status == 401)
    }

    @Test(arguments: [true, false])
    func `execute twenty concurrent requests once (X2)`(overSocket: Bool) async throws {
        let sample = try await SampleApplication.make()
        let before = try await sample.eventCount()
        _ = try await sample.send(
            "POST", "/apps/{app}/conversations", Self.draft,
            by: RouterClient(service: sample.server.service))
        let first = try await sample.eventCount() - before
        let client: any TestClient =
            overSocket
            ? SocketClient(port: sample.server.port) : RouterClient(service: sample.server.service)
        let answers = try await withThrowingTaskGroup(of: PlainAnswer.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await sample.send(
                        "POST", "/apps/{app}/conversations", Self.draft,
                        fields: [("Idempotency-Key", "one")], by: client)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let done = answers.filter { answer in answer.status == 201 }
        #expect(done.count { answer in answer["Idempotent-Replayed"] == nil } == 1)
        #expect(Set(done.map(\.body)).count == 1)
        for answer in answers where answer.status != 201 {
            #expect(answer.status == 409)
            #expect(answer["Retry-After"] == "1")
            #expect(answer.body.contains(#""id":"request_in_progress","code":113,"#))
        }
        #expect(try await sample.eventCount() == before + 2 * first)
    }
}
