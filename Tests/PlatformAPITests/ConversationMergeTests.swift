import FoundationEssentials
import JSON
import Messaging
import MessagingStore
import Testing

@Suite struct `Merging by id` {
    @Test(arguments: [true, false])
    func `forty concurrent creations with different ids make one conversation (X1_2, X1_6, R8)`(
        overSocket: Bool
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let names = (0..<40).map { _ in UUID().uuidString.lowercased() }
        let answers = try await each(names, sample, overSocket) { sample, client, index in
            let body = #"{"participants":["ana","bo"],"distinct":true"#
            return try await sample.send(
                "POST", "/apps/{app}/conversations",
                index.isMultiple(of: 2) ? body + #","id":"\#(names[index])"}"# : body + "}",
                fields: index.isMultiple(of: 2) ? [] : [("If-None-Match", names[index])], by: client
            )
        }
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 200 } == 39)
        let winner = try #require(answers.first?["Location"])
        #expect(Set(answers.map { $0["Location"] }) == [winner])
        #expect(answers.count { $0["Content-Location"] == winner } == 39)
        let sent = try await each(names, sample, overSocket) { sample, client, index in
            try await sample.send(
                "POST", "/apps/{app}/conversations/\(names[index])/messages",
                #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"\#(index)"}]}"#, by: client
            )
        }
        #expect(sent.allSatisfy { $0.status == 201 })
        let bodies = try await bodies(of: names[7], in: sample)
        #expect(bodies.sorted() == names.indices.map(String.init).sorted())
        let kinds = try await sample.events().map(\.type)
        #expect(kinds.count { $0 == .conversationCreated } == 1)
        #expect(kinds.count { $0 == .conversationMatched } == 39)
    }

    @Test(arguments: [true, false])
    func `messages sent to either during a merge are stored once, in order (X1_2, X1_3)`(
        overSocket: Bool
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let users = Participants([UserID("ana"), UserID("bo")].compactMap(\.self))
        let ids = (0..<3).map { number in Conversation.ID.v7(at: .now, random: UInt128(number)) }
        for (number, id) in ids.enumerated() {
            try await sample.server.store.addDistinctConversation(
                Conversation(
                    id: id, createdAt: Timestamp(milliseconds: Int64(9 - number)),
                    participants: users, isDistinct: true, metadata: Metadata()),
                in: sample.application)
        }
        let numbers = Array(0..<60)
        async let reconciled: Void = {
            for id in ids {
                try await sample.server.store.reconcile(id, in: sample.application)
            }
        }()
        let answers = try await each(numbers, sample, overSocket) { sample, client, index in
            try await sample.send(
                "POST", "/apps/{app}/conversations/\(ids[index % 3].uuid)/messages",
                #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"\#(index)"}]}"#, by: client
            )
        }
        try await reconciled
        #expect(answers.allSatisfy { $0.status == 201 })
        for id in ids {
            let found = try await bodies(of: id.uuid, in: sample)
            #expect(found.sorted() == numbers.map(String.init).sorted())
            let read = try await sample.send(
                "GET", "/apps/{app}/conversations/\(id.uuid)",
                by: RouterClient(service: sample.server.service))
            #expect(read.body.contains("layer:///conversations/\(ids[2].uuid)"))
        }
    }

    @Test func `the log has the merged conversations and the new positions of messages (X1_5, X3)`()
        async throws
    {
        let sample = try await SampleApplication.make(version: "3.0")
        let users = Participants([UserID("ana"), UserID("bo")].compactMap(\.self))
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"],"distinct":true}"#,
            by: client)
        let own = try #require(made["Location"]?.split(separator: "/").last)
        let other = Conversation.ID.v7(at: .now, random: 1)
        try await sample.server.store.addDistinctConversation(
            Conversation(
                id: other, createdAt: .now.next, participants: users, isDistinct: true,
                metadata: Metadata()), in: sample.application)
        for home in [other.uuid, String(own)] {
            _ = try await sample.send(
                "POST", "/apps/{app}/conversations/\(home)/messages",
                #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"x"}]}"#, by: client)
        }
        let epoch = try await sample.server.store.epoch()
        func receipt(_ cursor: String) async throws -> Int {
            try await sample.send(
                "POST", "/apps/{app}/users/bo/conversations/\(own)/receipts",
                #"{"type":"delivery","positions":"1","cursor":"\#(cursor)"}"#, by: client
            ).status
        }
        #expect(try await receipt("\(epoch).\(try await sample.end())") == 204)
        let end = try await sample.end()
        try await sample.server.store.reconcile(other, in: sample.application)
        let answer = try await sample.send("GET", "/apps/{app}/events?after=\(end)", by: client)
        let events = try JSONDocument(Array(answer.body.utf8)).root["events"]?.elements.map(\.self)
        let event = try #require(events?.first)
        let types = Set((events ?? []).map { event in event["type"]?.string })
        #expect(types == ["conversation.merged"], "the merge, and steps that sort the messages")
        #expect(event["type"]?.string == "conversation.merged")
        #expect(event["subject"]?.string == "layer:///conversations/\(own)")
        #expect(event["data"]?["id"]?.string == "layer:///conversations/\(own)")
        let aliases = event["changes"]?["aliases"]?.elements.map(\.string)
        #expect(aliases == ["layer:///conversations/\(other.uuid)"])
        let moved = event["changes"]?["messages"]?.elements.compactMap { $0["moved_to"]?.integer }
        #expect(moved?.isEmpty == false)
        // Positions that are known with a cursor of before the merge are refused (Y3).
        #expect(try await receipt("\(epoch).\(end)") == 409)
        #expect(try await receipt("0123456789abcdef.\(try await sample.end())") == 409)
        #expect(try await receipt("\(epoch).\(try await sample.end())") == 204)
        #expect(try await receipt("x") == 422)
    }

    @Test func `receipts by positions of an alias are refused, by messages are not (Y3, X1_2)`()
        async throws
    {
        let sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"],"distinct":true}"#,
            by: client)
        let winner = try #require(made["Location"]?.split(separator: "/").last)
        let alias = UUID().uuidString.lowercased()
        _ = try await sample.send(
            "POST", "/apps/{app}/conversations",
            #"{"participants":["ana","bo"],"distinct":true,"id":"\#(alias)"}"#, by: client)
        let sent = try await sample.send(
            "POST", "/apps/{app}/conversations/\(alias)/messages",
            #"{"sender_id":"ana","parts":[{"mime_type":"a/b","body":"x"}]}"#, by: client)
        #expect(sent.status == 201)
        let message = try #require(
            try JSONDocument(Array(sent.body.utf8)).root["id"]?.string?.split(separator: "/").last)
        let body = #"{"type":"read","positions":"1"}"#
        let refused = try await sample.send(
            "POST", "/apps/{app}/users/bo/conversations/\(alias)/receipts", body, by: client)
        #expect(refused.status == 409)
        #expect(refused.body.contains(#""id":"conversation_merged","code":118"#))
        #expect(refused.body.contains(#""data":{"id":"layer:///conversations/\#(winner)"}"#))
        let byMessage = try await sample.send(
            "POST", "/apps/{app}/users/bo/messages/\(message)/receipts", #"{"type":"delivery"}"#,
            by: client)
        #expect(byMessage.status == 204)
        let byPosition = try await sample.send(
            "POST", "/apps/{app}/users/bo/conversations/\(winner)/receipts", body, by: client)
        #expect(byPosition.status == 204)
    }

    private func bodies(of conversation: String, in sample: SampleApplication) async throws
        -> [String]
    {
        let answer = try await sample.send(
            "GET", "/apps/{app}/conversations/\(conversation)/messages?page_size=100",
            by: RouterClient(service: sample.server.service))
        let messages = try JSONDocument(Array(answer.body.utf8)).root.elements.map(\.self)
        let times = messages.compactMap { message in message["sent_at"]?.string }
        #expect(times == times.sorted(by: >))
        return messages.compactMap { message in
            message["parts"]?.elements.first { _ in true }?["body"]?.string
        }
    }

    /// Sends a request for each item concurrently.
    private func each<Item>(
        _ items: [Item], _ sample: SampleApplication, _ overSocket: Bool,
        _ request:
            @escaping @Sendable (SampleApplication, any TestClient, Int) async throws -> PlainAnswer
    ) async throws -> [PlainAnswer] {
        try await withThrowingTaskGroup(of: PlainAnswer.self) { group in
            for index in items.indices {
                let client: any TestClient =
                    overSocket
                    ? SocketClient(port: sample.server.port)
                    : RouterClient(service: sample.server.service)
                group.addTask { try await request(sample, client, index) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension Timestamp {
    fileprivate static var now: Timestamp { StoreEnvironment.live.now() }
}
