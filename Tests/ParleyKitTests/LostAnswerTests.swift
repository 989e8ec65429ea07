import FoundationEssentials
import HTTP
import JSON
import SystemSupport
import Testing

@testable import ParleyKit

/// Commands whose answers are lost.
@Suite(.timeLimit(.minutes(10))) struct LostAnswerTests {
    @Test func `every command takes effect once, although its first answer is lost (K31)`()
        async throws
    {
        let server = try KitServer()
        let bo = try await server.client("bo")
        let configuration = server.configuration("ana")
        let transport = LosingTransport(base: try openTransport(configuration))
        let ana = try await ParleyClient(configuration, transport)
        try await ana.authenticate()
        let file = Data(repeating: 7, count: 5000)
        bo.connect()
        ana.connect()
        let conversation = try await ana.newConversation(
            with: ["bo"], ConversationOptions(metadata: ["topic": "rent"])
        ).id
        let (left, deleted) = (
            try await ana.newConversation(with: ["cy"]).id,
            try await ana.newConversation(with: ["dan"]).id
        )
        try await kicking(ana) {
            for id in [left, deleted] {
                try await ana.waitUntilSent(try await ana.send([.text("x")], to: id).id)
            }
            let first = try await ana.send([.text("first")], to: conversation)
            try await ana.send([.data(file, mimeType: "a/b")], to: conversation)
            let removed = try await ana.send([.text("removed")], to: conversation)
            try await ana.setMetadata("blue", at: "color", of: conversation)
            try await ana.add(["cy", "dan"], to: conversation)
            try await ana.waitUntilSent(removed.id)
            try await ana.remove(["dan"], from: conversation)
            try await ana.delete(removed.id, .allParticipants)
            try await ana.follow(["eve", "fay"])
            try await ana.unfollow(["fay"])
            try await ana.registerPushToken(PushToken(.gcm, "token"))
            try await ana.leave(left)
            try await ana.delete(deleted, .myDevices)
            try await bo.waitFor(.message(first.id), within: .seconds(120))
            let answers = [
                try await bo.send([.text("one")], to: conversation).id,
                try await bo.send([.text("two")], to: conversation).id,
            ]
            try await ana.waitFor(.message(answers[1]), within: .seconds(120))
            try await ana.markAsRead([answers[0]])
            try await ana.markAllAsRead(in: conversation)
            try await eventually("everything is confirmed") {
                try await ana.rowCount(of: "outbox") == 0
            }
        }
        #expect(transport.lost.withLock { $0.count } > 15)

        let fresh = try await server.client("ana", device: "fresh")
        try await fresh.catchUp(within: .seconds(120))
        try await eventually("bo has everything") {
            guard try await bo.rowCount(of: "outbox") == 0 else { return false }
            return try await bo.conversation(conversation)?.participants.count == 3
        }
        for client in [ana, bo, fresh] {
            #expect(try await client.texts(in: conversation) == ["first", "", "one", "two"])
            let shown = try #require(try await client.conversation(conversation))
            #expect(shown.metadata == ["topic": "rent", "color": "blue"])
            #expect(Set(shown.participants.map(\.id)) == ["ana", "bo", "cy"])
            #expect(shown.totalCount == 4)
        }
        let part = try #require(try await bo.messages(in: conversation)[1].parts.first)
        try await bo.download(part.id).wait()
        #expect(try await bo.content(of: part.id)?.data() == file)
        for client in [ana, fresh] {
            #expect(try await client.conversations().map(\.id) == [conversation])
            #expect(try await client.conversation(conversation)?.unreadCount == 0)
        }
        let following = try await server.json(.get, "/users/ana/following")
        #expect(following.elements.contains { user in "\(user)".contains("eve") })
        #expect(!following.elements.contains { user in "\(user)".contains("fay") })
        for client in [ana, bo, fresh] { await client.close() }
    }
}

/// Loses the first answer to each request that changes something.
private struct LosingTransport: Transport {
    let base: any Transport
    let lost = Locked<Set<String>>([])

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        let answer = try await base.send(request)
        let isLogin = ["/dev/", "/sessions", "/nonces"].contains { request.path.hasPrefix($0) }
        guard request.method != .get, request.method != .head, !isLogin else { return answer }
        let key = request.headers.first { $0.name == "Idempotency-Key" }?.value
        let name =
            "\(request.method.rawValue) \(request.path) \(key ?? "") \(request.body?.count ?? -1)"
        guard lost.withLock({ lost in lost.insert(name).inserted }) else { return answer }
        throw ParleyError(.network, "The answer was lost.", isTransient: true)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        try await base.open(request)
    }
}
