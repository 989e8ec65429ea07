import JSON
import Messaging
import MessagingStore
import TestSupport
import Testing

@Suite struct `A copy that a reader of the log keeps` {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `is what the API shows, from any start position (X3)`(number: UInt64) async throws {
        let scene = try await SampleApplication.make(version: "3.0")
        var life = Life(scene: scene, generator: SeededGenerator(number))
        var copies = [(place: Int64(0), copy: LogCopy())]
        for step in 1...100 {
            try await life.step()
            if step % 25 == 0 { copies.append((try await scene.end(), try await life.snapshot())) }
        }
        let now = try await life.snapshot()
        #expect(now.messages.count > 5)
        for (place, copy) in copies {
            var (place, copy) = (place, copy)
            while true {
                let page = try await life.get("/apps/{app}/events?after=\(place)&limit=7")
                let events = page["events"]?.elements.map(\.self) ?? []
                for event in events { copy.apply(event) }
                guard let next = page["next"]?.integer, next > place else { break }
                place = next
            }
            #expect(copy == now)
        }
    }
}

/// Users that do anything at all, through the API.
private struct Life {
    let scene: SampleApplication
    var generator: SeededGenerator
    private var chats: [String] = []
    private var messages: [(chat: String, id: String)] = []
    private var arrivals: [Conversation.ID] = []
    private var listeners: [String] = []

    init(scene: SampleApplication, generator: SeededGenerator) {
        self.scene = scene
        self.generator = generator
    }

    private var client: any TestClient { RouterClient(service: scene.world.service) }

    mutating func step() async throws {
        let users = generator.some(of: ["ana", "bo", "cy", "dee"])
        let user = generator.one(of: ["ana", "bo", "cy", "dee"])
        let names = users.map { "\"\($0)\"" }.joined(separator: ",")
        guard let chat = chats.isEmpty || generator.once(in: 10) ? nil : generator.one(of: chats)
        else {
            let made = try await ask(
                "POST", "/conversations",
                #"{"participants":["ana",\#(names.isEmpty ? "\"bo\"" : names)],"distinct":\#(generator.once(in: 2))}"#
            )
            if made.status == 201 { chats.append(try id(of: made)) }
            return
        }
        switch generator.below(20) {
        case 0: _ = try await ask("DELETE", "/conversations/\(chat)")
        case 1, 2:
            let change = generator.one(of: [
                #"{"operation":"add","property":"participants","id":"\#(user)"}"#,
                #"{"operation":"remove","property":"participants","id":"\#(user)"}"#,
                // A participant that joins comes first, and those that stay move (rulings 28).
                #"{"operation":"set","property":"participants","value":["\#(user)","dee","ana"]}"#,
            ])
            _ = try await ask("PATCH", "/conversations/\(chat)", "[\(change)]")
        case 3, 4:
            let path = generator.one(of: ["a", "a.b", "a.b.c", "d"])
            let change = generator.one(of: [
                #"{"operation":"set","property":"metadata.\#(path)","value":"\#(user)"}"#,
                #"{"operation":"set","property":"metadata.\#(path)","value":{"x":"y"}}"#,
                #"{"operation":"delete","property":"metadata.\#(path)"}"#,
            ])
            _ = try await ask("PATCH", "/conversations/\(chat)", "[\(change)]")
        case 5:
            _ = try await ask(
                "POST", "/users/\(user)/conversations/\(chat)/mark_all_read", "{}")
        case 6 where !messages.isEmpty:
            _ = try await ask(
                "POST", "/users/\(user)/messages/\(generator.one(of: messages).id)/receipts",
                #"{"type":"\#(generator.one(of: ["delivery", "read"]))"}"#)
        case 7 where !messages.isEmpty:
            _ = try await ask("DELETE", "/messages/\(generator.one(of: messages).id)")
        case 8: try await meet(users)
        case 9 where !messages.isEmpty:
            let message = generator.one(of: messages)
            let part = #"{"mime_type":"a/b","body":"\#(generator.below(99))"}"#
            let isMore = generator.once(in: 2)
            _ = try await ask(
                isMore ? "POST" : "PUT",
                "/conversations/\(message.chat)/messages/\(message.id)/parts",
                isMore ? part : "[\(part)]")
        case 10, 11: try await listen()
        default:
            let sent = try await ask(
                "POST", "/conversations/\(chat)/messages",
                #"{"sender_id":"\#(user)","parts":[{"mime_type":"a/b","body":"\#(generator.below(99))"}]}"#
            )
            if sent.status == 201 { messages.append((chat, try id(of: sent))) }
        }
    }

    /// An import brings a conversation of the same users, or ends with one it has brought.
    private mutating func meet(_ users: [String]) async throws {
        if !arrivals.isEmpty, generator.once(in: 2) {
            let id = arrivals.removeFirst()
            do {
                try await scene.world.store.reconcile(id, in: scene.application)
            } catch Rejection.objectDeleted {
                // It was deleted for all meanwhile.
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
        try await scene.world.store.placeBeside(conversation, in: scene.application)
        chats.append(id.uuid)
        arrivals.append(id)
    }

    /// Creates, changes or deletes a webhook; its target answers or does not.
    private mutating func listen() async throws {
        guard !listeners.isEmpty, !generator.once(in: 3) else {
            let made = try await askWebhooks(
                "POST", "",
                #"{"version":"3.0","target_url":"https://hooks.example.org/in","events":["Message.created"],"secret":"s3cret","config":{"name":"\#(generator.below(99))"}}"#
            )
            listeners.append(try id(of: made))
            return
        }
        let listener = generator.one(of: listeners)
        switch generator.below(6) {
        case 0: _ = try await askWebhooks("DELETE", "/\(listener)")
        case 1: _ = try await askWebhooks("POST", "/\(listener)/deactivate")
        case 2: _ = try await askWebhooks("POST", "/\(listener)/activate")
        case 3:
            _ = try await askWebhooks("POST", "/\(listener)/rotate_secret", #"{"secret":"n3w"}"#)
        default:
            let store = scene.world.store
            for waiting in try await store.webhooks(limit: 50, in: scene.application).items {
                try await store.finishVerification(
                    of: waiting, failure: generator.once(in: 2) ? "no" : nil, in: scene.application)
            }
        }
    }

    func snapshot() async throws -> LogCopy {
        var copy = LogCopy()
        let list = try await askWebhooks("GET", "?page_size=100")
        for webhook in try JSONDocument(Array(list.body.utf8)).root.elements {
            copy.keep(webhook: webhook)
        }
        for chat in chats {
            let answer = try await ask("GET", "/conversations/\(chat)")
            guard answer.status == 200 else { continue }
            copy.keep(chat: try JSONDocument(Array(answer.body.utf8)).root)
            let list = try await get("/apps/{app}/conversations/\(chat)/messages?page_size=100")
            for message in list.elements { copy.keep(message: message) }
        }
        return copy
    }

    func get(_ target: String) async throws -> JSONValue {
        let answer = try await scene.ask("GET", target, by: client)
        return try JSONDocument(Array(answer.body.utf8)).root
    }

    private func ask(
        _ method: String, _ path: String, _ body: String = ""
    ) async throws -> PlainAnswer {
        let type =
            method == "PATCH"
            ? [(name: "Content-Type", value: "application/vnd.layer-patch+json")] : []
        return try await scene.ask(
            method, "/apps/{app}\(path)", body, fields: type, by: client)
    }

    private func askWebhooks(
        _ method: String, _ path: String, _ body: String = ""
    ) async throws -> PlainAnswer {
        try await scene.ask(
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
