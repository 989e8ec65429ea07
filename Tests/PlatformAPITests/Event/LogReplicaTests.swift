import JSON
import Messaging
import MessagingStore
import TestSupport
import Testing

@Suite struct `A replica made from the event log` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `equals what the API shows, from any start position (X3)`(number: UInt64) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        var requests = RandomRequests(sample: sample, generator: SeededGenerator(number))
        var replicas = [(position: Int64(0), replica: LogReplica())]
        for step in 1...100 {
            try await requests.step()
            if step % 25 == 0 {
                replicas.append((try await sample.end(), try await requests.snapshot()))
            }
        }
        let now = try await requests.snapshot()
        #expect(now.messages.count > 5)
        for (position, replica) in replicas {
            var (position, replica) = (position, replica)
            while true {
                let page = try await requests.get("/apps/{app}/events?after=\(position)&limit=7")
                let events = page["events"]?.elements.map(\.self) ?? []
                for event in events { replica.apply(event) }
                guard let next = page["next"]?.integer, next > position else { break }
                position = next
            }
            #expect(replica == now)
        }
    }
}

/// Random requests of users through the API.
private struct RandomRequests {
    let sample: SampleApplication
    var generator: SeededGenerator
    private var conversations: [String] = []
    private var messages: [(conversation: String, id: String)] = []
    private var imports: [Conversation.ID] = []
    private var webhooks: [String] = []

    init(sample: SampleApplication, generator: SeededGenerator) {
        self.sample = sample
        self.generator = generator
    }

    private var client: any TestClient { RouterClient(service: sample.server.service) }

    mutating func step() async throws {
        let users = generator.some(of: ["ana", "bo", "cy", "dee"])
        let user = generator.one(of: ["ana", "bo", "cy", "dee"])
        let names = users.map { "\"\($0)\"" }.joined(separator: ",")
        guard
            let conversation = conversations.isEmpty || generator.once(in: 10)
                ? nil : generator.one(of: conversations)
        else {
            let made = try await send(
                "POST", "/conversations",
                #"{"participants":["ana",\#(names.isEmpty ? "\"bo\"" : names)],"distinct":\#(generator.once(in: 2))}"#
            )
            if made.status == 201 { conversations.append(try id(of: made)) }
            return
        }
        switch generator.below(20) {
        case 0: _ = try await send("DELETE", "/conversations/\(conversation)")
        case 1, 2:
            let change = generator.one(of: [
                #"{"operation":"add","property":"participants","id":"\#(user)"}"#,
                #"{"operation":"remove","property":"participants","id":"\#(user)"}"#,
                // A joining participant comes first, and the others move (ruling 28).
                #"{"operation":"set","property":"participants","value":["\#(user)","dee","ana"]}"#,
            ])
            _ = try await send("PATCH", "/conversations/\(conversation)", "[\(change)]")
        case 3, 4:
            let path = generator.one(of: ["a", "a.b", "a.b.c", "d"])
            let change = generator.one(of: [
                #"{"operation":"set","property":"metadata.\#(path)","value":"\#(user)"}"#,
                #"{"operation":"set","property":"metadata.\#(path)","value":{"x":"y"}}"#,
                #"{"operation":"delete","property":"metadata.\#(path)"}"#,
            ])
            _ = try await send("PATCH", "/conversations/\(conversation)", "[\(change)]")
        case 5:
            _ = try await send(
                "POST", "/users/\(user)/conversations/\(conversation)/mark_all_read", "{}")
        case 6 where !messages.isEmpty:
            _ = try await send(
                "POST", "/users/\(user)/messages/\(generator.one(of: messages).id)/receipts",
                #"{"type":"\#(generator.one(of: ["delivery", "read"]))"}"#)
        case 7 where !messages.isEmpty:
            _ = try await send("DELETE", "/messages/\(generator.one(of: messages).id)")
        case 8: try await importDistinctConversation(users)
        case 9 where !messages.isEmpty:
            let message = generator.one(of: messages)
            let part = #"{"mime_type":"a/b","body":"\#(generator.below(99))"}"#
            let isMore = generator.once(in: 2)
            _ = try await send(
                isMore ? "POST" : "PUT",
                "/conversations/\(message.conversation)/messages/\(message.id)/parts",
                isMore ? part : "[\(part)]")
        case 10, 11: try await changeWebhook()
        default:
            let sent = try await send(
                "POST", "/conversations/\(conversation)/messages",
                #"{"sender_id":"\#(user)","parts":[{"mime_type":"a/b","body":"\#(generator.below(99))"}]}"#
            )
            if sent.status == 201 { messages.append((conversation, try id(of: sent))) }
        }
    }

    /// Records a conversation of the same users like an import, or merges an earlier one.
    private mutating func importDistinctConversation(_ users: [String]) async throws {
        if !imports.isEmpty, generator.once(in: 2) {
            let id = imports.removeFirst()
            do {
                try await sample.server.store.reconcile(id, in: sample.application)
            } catch Rejection.objectDeleted {
                // The conversation was deleted for all meanwhile.
            }
            return
        }
        let (id, moment) = (
            Conversation.ID.v7(at: .init(milliseconds: 0), random: UInt128(generator.next())),
            Int64(generator.below(9))
        )
        let people = (users.isEmpty ? ["bo"] : users) + ["ana"]
        let conversation = Conversation(
            id: id, createdAt: Timestamp(milliseconds: moment),
            participants: Participants(people.compactMap { UserID($0) }), isDistinct: true,
            metadata: Metadata(["a": "brought"], at: Timestamp(milliseconds: moment)))
        try await sample.server.store.addDistinctConversation(conversation, in: sample.application)
        conversations.append(id.uuid)
        imports.append(id)
    }

    /// Creates, changes or deletes a webhook; its verification succeeds or fails.
    private mutating func changeWebhook() async throws {
        guard !webhooks.isEmpty, !generator.once(in: 3) else {
            let made = try await sendToWebhooks(
                "POST", "",
                #"{"version":"3.0","target_url":"https://hooks.example.org/in","events":["Message.created"],"secret":"s3cret","config":{"name":"\#(generator.below(99))"}}"#
            )
            webhooks.append(try id(of: made))
            return
        }
        let webhook = generator.one(of: webhooks)
        switch generator.below(6) {
        case 0: _ = try await sendToWebhooks("DELETE", "/\(webhook)")
        case 1: _ = try await sendToWebhooks("POST", "/\(webhook)/deactivate")
        case 2: _ = try await sendToWebhooks("POST", "/\(webhook)/activate")
        case 3:
            _ = try await sendToWebhooks("POST", "/\(webhook)/rotate_secret", #"{"secret":"n3w"}"#)
        default:
            let store = sample.server.store
            for waiting in try await store.webhooks(limit: 50, in: sample.application).items {
                try await store.finishVerification(
                    of: waiting, failure: generator.once(in: 2) ? "no" : nil, in: sample.application
                )
            }
        }
    }

    func snapshot() async throws -> LogReplica {
        var replica = LogReplica()
        let list = try await sendToWebhooks("GET", "?page_size=100")
        for webhook in try JSONDocument(Array(list.body.utf8)).root.elements {
            replica.store(webhook: webhook)
        }
        for conversation in conversations {
            let answer = try await send("GET", "/conversations/\(conversation)")
            guard answer.status == 200 else { continue }
            replica.store(conversation: try JSONDocument(Array(answer.body.utf8)).root)
            let list = try await get(
                "/apps/{app}/conversations/\(conversation)/messages?page_size=100")
            for message in list.elements { replica.store(message: message) }
        }
        return replica
    }

    func get(_ target: String) async throws -> JSONValue {
        let answer = try await sample.send("GET", target, by: client)
        return try JSONDocument(Array(answer.body.utf8)).root
    }

    private func send(
        _ method: String, _ path: String, _ body: String = ""
    ) async throws -> PlainAnswer {
        let type =
            method == "PATCH"
            ? [(name: "Content-Type", value: "application/vnd.layer-patch+json")] : []
        return try await sample.send(
            method, "/apps/{app}\(path)", body, fields: type, by: client)
    }

    private func sendToWebhooks(
        _ method: String, _ path: String, _ body: String = ""
    ) async throws -> PlainAnswer {
        try await sample.send(
            PlainRequest(
                method: method, target: "/apps/{app}/webhooks\(path)",
                fields: [
                    (name: "Authorization", value: "Bearer {token}"),
                    (name: "Accept", value: "application/vnd.layer.webhooks+json; version=3.0"),
                ], body: body), by: client)
    }

    private func id(of answer: PlainAnswer) throws -> String {
        let text = try JSONDocument(Array(answer.body.utf8)).root["id"]?.string
        return String(try #require(text).split(separator: "/").last ?? "")
    }
}
