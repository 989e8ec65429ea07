import FoundationEssentials
import Messaging
import MessagingStore
import Synchronization
import Testing

@Suite struct `Concurrent requests` {
    @Test(arguments: [true, false])
    func `fifty concurrent distinct creations make one conversation (R8)`(overSocket: Bool)
        async throws
    {
        let sample = try await SampleApplication.make()
        let before = try await sample.eventCount()
        let answers = try await send(50, sample, overSocket) { sample, client in
            try await sample.send(
                "POST", "/apps/{app}/conversations",
                #"{"participants":["ana","bo"],"distinct":true}"#, by: client)
        }
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 200 } == 49)
        #expect(Set(answers.map(\.body)).count == 1)
        // One event for the conversation, and one for each user that is named for the first time.
        let again = try await sample.eventCount()
        _ = try await send(5, sample, overSocket) { sample, client in
            try await sample.send(
                "POST", "/apps/{app}/conversations",
                #"{"participants":["bo","ana"],"distinct":true}"#, by: client)
        }
        #expect(again > before)
        #expect(try await sample.eventCount() == again)
    }

    @Test(arguments: [true, false])
    func `twenty concurrent requests with one key send one message (R111)`(overSocket: Bool)
        async throws
    {
        var sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: client)
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        let before = try await sample.eventCount()
        let answers = try await send(20, sample, overSocket) { sample, client in
            try await sample.send(
                "POST", "/apps/{app}/conversations/{C}/messages",
                #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"once"}]}"#,
                fields: [("If-None-Match", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d")], by: client)
        }
        #expect(answers.allSatisfy { $0.status == 201 })
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(try await sample.eventCount() == before + 1)
    }

    @Test(arguments: [true, false])
    func `twenty concurrent announcements with one key are one (R111)`(overSocket: Bool)
        async throws
    {
        let sample = try await SampleApplication.make()
        let before = try await sample.eventCount()
        let answers = try await send(20, sample, overSocket) { sample, client in
            try await sample.send(
                "POST", "/apps/{app}/announcements",
                #"{"recipients":["ana"],"sender":{"name":"Shop"},"parts":[{"mime_type":"a/b","body":"once"}]}"#,
                fields: [("If-None-Match", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d")], by: client)
        }
        #expect(answers.allSatisfy { $0.status == 202 })
        #expect(Set(answers.map(\.body)).count == 1)
        #expect(try await sample.eventCount() == before + 1)
    }

    @Test func `concurrent patches of different keys do not overwrite each other (R47)`()
        async throws
    {
        var sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana"]}"#, by: client)
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        let answers = try await withThrowingTaskGroup(of: PlainAnswer.self) { group in
            for number in 10..<40 {
                group.addTask { [sample] in
                    try await sample.send(
                        "PATCH", "/apps/{app}/conversations/{C}",
                        #"{"operation":"set","property":"metadata.k\#(number)","value":"x"}"#,
                        fields: [("Content-Type", "application/vnd.layer-patch+json")], by: client)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.status == 204 })
        let now = try await sample.send("GET", "/apps/{app}/conversations/{C}", by: client)
        #expect((10..<40).allSatisfy { now.body.contains("\"k\($0)\":\"x\"") })
    }

    @Test(arguments: [true, false])
    func `of twenty concurrent patches of one version exactly one succeeds (X4)`(
        overSocket: Bool
    ) async throws {
        let sample = try await sampleMessage()
        let answers = try await send(20, sample, overSocket) { sample, client in
            try await sample.send(
                "PATCH", "/apps/{app}/conversations/{C}",
                #"[{"operation":"set","property":"metadata.x","value":"y"}]"#,
                fields: [
                    ("Content-Type", "application/vnd.layer-patch+json"), ("If-Match", "\"v1\""),
                ], by: client)
        }
        #expect(answers.count { $0.status == 204 } == 1)
        #expect(answers.count { $0.status == 412 } == 19)
    }

    @Test(arguments: [true, false])
    func `of twenty concurrent replacements of one version exactly one succeeds (X4)`(
        overSocket: Bool
    ) async throws {
        let sample = try await sampleMessage()
        let answers = try await send(20, sample, overSocket) { sample, client in
            try await sample.send(
                "PUT", "/apps/{app}/conversations/{C}/messages/{M}/parts/0",
                #"{"mime_type":"a/b","body":"x"}"#, fields: [("If-Match", "\"v1\"")], by: client)
        }
        #expect(answers.count { $0.status == 200 } == 1)
        #expect(answers.count { $0.status == 412 } == 19)
    }

    @Test(arguments: [true, false])
    func `thirty parts added concurrently have thirty numbers (1_3)`(overSocket: Bool) async throws
    {
        let sample = try await sampleMessage()
        let answers = try await send(30, sample, overSocket) { sample, client in
            try await sample.send(
                "POST", "/apps/{app}/conversations/{C}/messages/{M}/parts",
                #"{"mime_type":"a/b","body":"x"}"#, by: client)
        }
        #expect(answers.allSatisfy { $0.status == 201 })
        let numbers = answers.compactMap { $0["Location"]?.split(separator: "/").last }
        #expect(Set(numbers.compactMap { Int($0) }) == Set(1...30))
        let removals = try await send(31, sample, overSocket) { sample, client in
            try await sample.send(
                "DELETE",
                "/apps/{app}/conversations/{C}/messages/{M}/parts/\(Int.random(in: 0...30))",
                by: client)
        }
        #expect(removals.allSatisfy { [204, 404, 422].contains($0.status) })
        let client = RouterClient(service: sample.server.service)
        let rest = try await sample.send(
            "GET", "/apps/{app}/conversations/{C}/messages/{M}/parts", by: client)
        let gone = removals.count { $0.status == 204 }
        #expect(rest["ETag"] == "\"v\(31 + gone)\"")
        #expect(rest.body.components(separatedBy: #""mime_type""#).count - 1 == 31 - gone)
    }

    /// A conversation `C` with one message `M`, in 2.0.
    private func sampleMessage() async throws -> SampleApplication {
        var sample = try await SampleApplication.make(version: "2.0")
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana"]}"#, by: client)
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        let sent = try await sample.send(
            "POST", "/apps/{app}/conversations/{C}/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"0"}]}"#, by: client)
        sample.variables["M"] = sent["Location"]?.split(separator: "/").last.map(String.init)
        return sample
    }

    @Test(arguments: [true, false])
    func `one of many requests creates an identity, the others get a conflict (5_7)`(
        overSocket: Bool
    ) async throws {
        let sample = try await SampleApplication.make()
        let before = try await sample.eventCount()
        let answers = try await send(20, sample, overSocket) { sample, client in
            try await sample.send(
                "POST", "/apps/{app}/users/ana/identity", #"{"display_name":"Ana"}"#, by: client)
        }
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 409 } == 19)
        #expect(try await sample.eventCount() == before + 1)
    }

    @Test(arguments: [true, false])
    func `concurrent patches of different keys of an identity are all kept (R47, R49)`(
        overSocket: Bool
    ) async throws {
        let sample = try await SampleApplication.make()
        let made = try await sample.send(
            "PUT", "/apps/{app}/users/ana/identity", #"{"display_name":"Ana"}"#,
            by: RouterClient(service: sample.server.service))
        #expect(made.status == 204)
        let next = Counter()
        let answers = try await send(16, sample, overSocket) { sample, client in
            try await sample.send(
                "PATCH", "/apps/{app}/users/ana/identity",
                #"{"operation":"set","property":"metadata.k\#(next.next())","value":"x"}"#,
                fields: [("Content-Type", "application/vnd.layer-patch+json")], by: client)
        }
        #expect(answers.allSatisfy { $0.status == 204 })
        let user = try await sample.server.store.identity(
            of: #require(UserID("ana")), in: sample.application)
        #expect(user.identity.metadata.count == 16)
        #expect(user.identityVersion == 17)
    }

    @Test func `concurrent blocks are all kept (R30)`() async throws {
        let sample = try await SampleApplication.make()
        let next = Counter()
        let patch = patch
        let answers = try await send(40, sample, true) { sample, client in
            let number = next.next()
            return number % 2 == 0
                ? try await sample.send(
                    "POST", "/apps/{app}/users/ana/blocks", #"{"user_id":"u\#(number)"}"#,
                    by: client)
                : try await sample.send(
                    "PATCH", "/apps/{app}/users/ana",
                    #"{"operation":"add","property":"blocks","value":"u\#(number)"}"#,
                    fields: patch, by: client)
        }
        #expect(answers.allSatisfy { $0.status == 204 || $0.status == 202 })
        let blocked = try await sample.server.store.blocks(
            of: #require(UserID("ana")), in: sample.application)
        #expect(blocked.count == 40)
    }

    private let patch = [(name: "Content-Type", value: "application/vnd.layer-patch+json")]

    private func send(
        _ count: Int, _ sample: SampleApplication, _ overSocket: Bool,
        _ request:
            @escaping @Sendable (SampleApplication, any TestClient) async throws -> PlainAnswer
    ) async throws -> [PlainAnswer] {
        let client: any TestClient =
            overSocket
            ? SocketClient(port: sample.server.port) : RouterClient(service: sample.server.service)
        return try await withThrowingTaskGroup(of: PlainAnswer.self) { group in
            for _ in 0..<count { group.addTask { try await request(sample, client) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Unique numbers for concurrent requests.
private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
