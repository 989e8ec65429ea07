import JSON
import Messaging
import Testing

/// Concurrent requests of users and the system over sockets, and a restart.
@Suite struct `Concurrent users` {
    private let members = (0..<9).map { number in "u\(number)" }

    @Test func `fifty concurrent distinct creations by users and the system make one (R8)`()
        async throws
    {
        let sample = try await SampleApplication.make(version: "1.1", in: TestServer.separate())
        try await createMembers(sample)
        let list = members.map { user in "\"\(user)\"" }.joined(separator: ",")
        let creations = (0..<50).map { number in
            // Each user five times, and the system.
            (
                "POST",
                number < 45
                    ? "/apps/{app}/users/u\(number % 9)/conversations"
                    : "/apps/{app}/conversations",
                #"{"participants":[\#(list)],"distinct":true}"#
            )
        }
        let answers = try await send(creations, sample)
        #expect(answers.count { answer in answer.status == 201 } == 1)
        #expect(answers.count { answer in answer.status == 200 } == 49)
        let ids = try Set(answers.map { answer in try member("id", of: answer) })
        #expect(ids.count == 1)
        #expect(try await created(sample, from: members.count) == 1)
        for user in members {
            let answer = try await sample.send(
                "GET", "/apps/{app}/users/\(user)/conversations", by: client(sample))
            // The conversation that created the user, and this one.
            #expect(answer["Layer-Count"] == "2")
        }

        let later = try await sample.reopened()
        let again = try await send(creations, later)
        #expect(again.allSatisfy { answer in answer.status == 200 })
        #expect(try Set(again.map { answer in try member("id", of: answer) }) == ids)
        #expect(try await created(later, from: members.count) == 1)
    }

    @Test func `twenty concurrent requests of a user with one key send one message (R111)`()
        async throws
    {
        let sample = try await conversation()
        let posts = (0..<20).map { number in
            (
                "POST", "/apps/{app}/users/u0/conversations/{C}/messages",
                #"{"parts":[{"mime_type":"a/b","body":"\#(number)"}]}"#
            )
        }
        let key = [("If-None-Match", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d")]
        let answers = try await send(posts, sample, key)
        #expect(answers.allSatisfy { answer in answer.status == 201 })
        #expect(Set(answers.map(\.body)).count == 1)
        let later = try await sample.reopened()
        let again = try await send(posts, later, key)
        #expect(Set(again.map(\.body)) == Set(answers.map(\.body)))
        #expect(try await unread(of: "u1", later) == 1)
    }

    @Test func `patches of different keys are all kept, of one key the last (R47)`() async throws {
        let sample = try await conversation()
        let patches = (0..<60).map { number in
            (
                "PATCH",
                number % 2 == 0
                    ? "/apps/{app}/users/u\(number % 9)/conversations/{C}"
                    : "/apps/{app}/conversations/{C}",
                """
                [{"operation":"set","property":"metadata.k\(number)","value":"x"},\
                {"operation":"set","property":"metadata.same","value":"v\(number)"}]
                """
            )
        }
        let answers = try await send(
            patches, sample, [("Content-Type", "application/vnd.layer-patch+json")])
        #expect(answers.allSatisfy { answer in answer.status == 204 })
        let now = try await sample.send("GET", "/apps/{app}/conversations/{C}", by: client(sample))
        #expect((0..<60).allSatisfy { number in now.body.contains("\"k\(number)\":\"x\"") })
        let last = try await sample.events().last
        guard case .metadataChanged(let change)? = last else {
            Issue.record("the last event is no patch")
            return
        }
        guard case .object(let members) = change.writes.view,
            case .text(let text)? = members.first(where: { $0.key == "same" })?.value
        else {
            Issue.record("the last patch has not written the key")
            return
        }
        #expect(now.body.contains("\"same\":\"\(text)\""))
        let later = try await sample.reopened()
        #expect(
            try await later.send("GET", "/apps/{app}/conversations/{C}", by: client(later)).body
                == now.body)
    }

    @Test func `concurrent receipts of all readers leave no message unread (R72, R74, R78)`()
        async throws
    {
        var sample = try await conversation()
        for number in 0..<5 {
            let sent = try await sample.send(
                "POST", "/apps/{app}/users/u0/conversations/{C}/messages",
                #"{"parts":[{"mime_type":"a/b","body":"x"}]}"#, by: client(sample))
            sample.variables["M\(number)"] = sent["Location"]?.split(separator: "/").last
                .map(String.init)
        }
        let before = try await sample.events().count
        // Every reader marks every message twice, and all messages at once.
        var receipts = members.dropFirst().flatMap { user in
            (0..<10).map { number in
                (
                    "POST", "/apps/{app}/users/\(user)/messages/{M\(number % 5)}/receipts",
                    #"{"type":"read"}"#
                )
            }
        }
        receipts += members.map { user in
            ("POST", "/apps/{app}/users/\(user)/conversations/{C}/mark_all_read", "{}")
        }
        let answers = try await send(receipts.shuffled(), sample)
        #expect(answers.allSatisfy { answer in [202, 204].contains(answer.status) })
        // Each of eight readers reads five messages once, singly or together.
        let events = try await sample.events()
        #expect((8...40).contains(events.count - before))
        let later = try await sample.reopened()
        for user in members { #expect(try await unread(of: user, later) == 0) }
        let message = try await later.send(
            "GET", "/apps/{app}/conversations/{C}/messages/{M3}", by: client(later))
        #expect(!message.body.contains("\"sent\""))
    }

    // MARK: - Requests

    private func client(_ sample: SampleApplication) -> any TestClient {
        SocketClient(port: sample.server.port)
    }

    /// Creates the members, each by a separate conversation.
    private func createMembers(_ sample: SampleApplication) async throws {
        for user in members {
            let made = try await sample.send(
                "POST", "/apps/{app}/conversations", #"{"participants":["\#(user)"]}"#,
                by: client(sample))
            #expect(made.status == 201)
        }
    }

    /// An application on its own server, with a conversation `C` of all members.
    private func conversation() async throws -> SampleApplication {
        var sample = try await SampleApplication.make(version: "1.1", in: TestServer.separate())
        let list = members.map { user in "\"\(user)\"" }.joined(separator: ",")
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":[\#(list)]}"#, by: client(sample)
        )
        sample.variables["C"] = made["Location"]?.split(separator: "/").last.map(String.init)
        return sample
    }

    private func send(
        _ requests: [(method: String, target: String, body: String)], _ sample: SampleApplication,
        _ fields: [(name: String, value: String)] = []
    ) async throws -> [PlainAnswer] {
        try await withThrowingTaskGroup(of: PlainAnswer.self) { group in
            for request in requests {
                group.addTask {
                    try await sample.send(
                        request.method, request.target, request.body, fields: fields,
                        by: SocketClient(port: sample.server.port))
                }
            }
            return try await group.reduce(into: []) { answers, answer in answers.append(answer) }
        }
    }

    private func member(_ name: String, of answer: PlainAnswer) throws -> String {
        try JSONDocument(Array(answer.body.utf8)).root[name]?.string ?? ""
    }

    private func unread(of user: String, _ sample: SampleApplication) async throws -> Int64? {
        let answer = try await sample.send(
            "GET", "/apps/{app}/users/\(user)/conversations/{C}", by: client(sample))
        return try JSONDocument(Array(answer.body.utf8)).root["unread_message_count"]?.integer
    }

    /// The number of conversations created since there were `known`.
    private func created(_ sample: SampleApplication, from known: Int) async throws -> Int {
        try await sample.events().count { event in
            if case .conversationCreated = event { true } else { false }
        } - known
    }
}
