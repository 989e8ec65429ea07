import Testing

@testable import ParleyKit

@Suite struct HistoryTests {
    @Test func `older messages are loaded in pages, up to the first (K13, K15)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (
            try await server.client("ana"), try await server.client("bo", history: .newest(5))
        )
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        var last: Message?
        for number in 1...30 {
            last = try await ana.send([.text("\(number)")], to: conversation)
        }
        try await ana.waitUntilSent(try #require(last).id)
        try await bo.catchUp(within: .seconds(20))
        #expect(try await bo.texts(in: conversation) == (26...30).map(String.init))
        #expect(try await bo.loadOlder(10, in: conversation) == 10)
        #expect(try await bo.texts(in: conversation) == (16...30).map(String.init))
        let shown = try #require(try await bo.conversation(conversation))
        #expect(shown.totalCount == 30)
        #expect(shown.unreadCount == 30)
        try await bo.markAllAsRead(in: conversation)
        #expect(try await bo.conversation(conversation)?.unreadCount == 0)
        try await bo.loadAll(in: conversation)
        #expect(try await bo.texts(in: conversation) == (1...30).map(String.init))
        #expect(try await bo.loadOlder(10, in: conversation) == 0)
        bo.connect()
        try await eventually("ana sees that all were read") {
            try await ana.messages(in: conversation).allSatisfy { $0.status(of: "bo") == .read }
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `a device that waits for a message learns of it, or that it did not come`()
        async throws
    {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let message = try await ana.send([.text("Hello")], to: conversation)
        await #expect(throws: ParleyError.self) {
            try await bo.waitFor(.message(message.id), within: .milliseconds(50))
        }
        bo.connect()
        try await bo.waitFor(.message(message.id), within: .seconds(20))
        try await ana.follow(["cy"])
        try await eventually("cy is followed") { try await ana.rowCount(of: "outbox") == 0 }
        for client in [ana, bo] { await client.close() }
    }
}

@Suite struct PushTokenTests {
    @Test func `the last token reaches the server, and diagnostics name what waits (K67, K72)`()
        async throws
    {
        let server = try KitServer()
        let ana = try await server.client("ana")
        try await ana.registerPushToken(PushToken(.gcm, "first"))
        try await ana.registerPushToken(PushToken(.apns, "ab12", bundle: "com.example.chat"))
        #expect(try await ana.rowCount(of: "outbox") == 1)
        let text = String(decoding: try await ana.diagnostics(), as: UTF8.self)
        #expect(text.contains(#""kind":"register_push""#))
        #expect(!text.contains("ab12"))
        ana.connect()
        try await eventually("the token is registered") {
            try await ana.rowCount(of: "outbox") == 0
        }
        try await ana.unregisterPushToken()
        try await eventually("it is gone") { try await ana.rowCount(of: "outbox") == 0 }
        await ana.close()
    }
}
