import FoundationEssentials
import JSON
import Messaging
import MessagingWire
import SystemSupport
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
        try await bo.catchUp(within: .seconds(120))
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

    @Test func `what live queries miss is requested once, and again after an error (K13)`()
        async throws
    {
        let server = try KitServer()
        let ana = try await server.client("ana")
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        var last: Message?
        for number in 1...150 {
            last = try await ana.send([.text("\(number)")], to: conversation)
        }
        try await ana.waitUntilSent(try #require(last).id)
        let configuration = server.configuration("bo", history: .newest(5))
        let transport = BrokenHistoryTransport(base: try openTransport(configuration))
        let bo = try await ParleyClient(configuration, transport)
        try await bo.authenticate()
        try await bo.catchUp(within: .seconds(120))
        #expect(try await bo.messages(in: conversation).count == 5)
        bo.connect()
        let query = Query<Message>(where: { $0.conversation == conversation })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for window in [Window.all, .last(40), .last(140)] {
                group.addTask {
                    for try await set in bo.results(query, window: window) where set.isUpToDate {
                        let expected = if case .last(let size) = window { size } else { 150 }
                        #expect(set.elements.count == expected)
                        return
                    }
                }
            }
            try await group.waitForAll()
        }
        // Two were broken; a page has 100 messages.
        #expect((4...5).contains(transport.requests.withLock { $0 }))
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
        let tablet = try await server.client("bo", device: "tablet")
        let waiting = Task { try await tablet.waitFor(.message(message.id), within: .seconds(120)) }
        try await Task.sleep(for: .milliseconds(50))
        await tablet.close()
        await #expect { try await waiting.value } throws: { error in
            (error as? ParleyError)?.code == .closed
        }
        bo.connect()
        try await bo.waitFor(.message(message.id), within: .seconds(120))
        try await ana.follow(["cy"])
        try await eventually("cy is followed") { try await ana.rowCount(of: "outbox") == 0 }
        for client in [ana, bo] { await client.close() }
    }
}

/// Breaks the first two requests for older messages.
private struct BrokenHistoryTransport: Transport {
    let base: any Transport
    let requests = Locked(0)

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        if request.path.contains("/messages?page_size=") {
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            guard number > 2 else {
                throw ParleyError(.network, "The connection was reset.", isTransient: true)
            }
        }
        return try await base.send(request)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        try await base.open(request)
    }
}

@Suite struct PushTests {
    @Test func `a push names a message, which is received (K67, K15)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let message = try await ana.send(
            [.text("Hello")], to: conversation,
            MessageOptions(push: PushOptions(title: "Ana", text: "Hello")))
        try await ana.waitUntilSent(message.id)
        let layer = [
            "conversation_identifier": "\(conversation)", "message_identifier": "\(message.id)",
        ]
        let target = try #require(PushTarget(["aps": ["alert": "Hello"], "layer": layer]))
        #expect(target.conversation == conversation)
        #expect(target.message == message.id)
        let text =
            #"{"message_identifier":"\#(message.id)","conversation_identifier":"\#(conversation)"}"#
        #expect(PushTarget(["layer": text]) == target)
        let result = try await bo.handlePush(target)
        #expect(result.message?.parts.first?.text == "Hello")
        #expect(result.conversation?.id == conversation)
        #expect(bo.connection == .idle)
        bo.connect()
        try await eventually("bo is live") { bo.connection == .live }
        #expect(try await bo.handlePush(target).message?.id == message.id)
        for client in [ana, bo] { await client.close() }
    }

    @Test func `pushes of others name nothing (K67)`() {
        let id = "layer:///messages/\(Message.ID(.v7(at: Clock.now, random: 1)).value.uuid)"
        let foreign: [[AnyHashable: Any]] = [
            [:], ["aps": ["alert": "x"]], ["layer": 5], ["layer": "x"], ["layer": "[]"],
            ["layer": [String: String]()], ["layer": ["message_identifier": id]],
            ["layer": ["message_identifier": "x", "conversation_identifier": id]],
            ["layer": ["announcement_identifier": id]],
        ]
        for userInfo in foreign { #expect(PushTarget(userInfo) == nil, "\(userInfo)") }
        let announcement = id.replacing("messages", with: "announcements")
        let target = PushTarget(["layer": ["announcement_identifier": announcement]])
        #expect(target?.message.isAnnouncement == true)
        #expect(target?.conversation == nil)
    }

    @Test func `push options become the member of the message, or are refused (K36)`() throws {
        var options = PushOptions(title: "t", text: "x", sound: "s")
        options.category = "c"
        (options.titleLocKey, options.titleLocArguments) = ("k", ["a", "b"])
        (options.locKey, options.locArguments) = ("l", ["d"])
        options.actionLocKey = "e"
        options.apns = ["launch-image": "i"]
        options.data = ["z": "1", "a": "2"]
        options.recipients = ["bo": PushOptions(text: "for bo")]
        let json = String(decoding: try options.json(), as: UTF8.self)
        #expect(
            json == """
                {"title":"t","text":"x","sound":"s","category":"c","title-loc-key":"k","loc-key":"l",\
                "action-loc-key":"e","title-loc-args":["a","b"],"loc-args":["d"],"apns":{"launch-image":"i"},\
                "data":{"a":"2","z":"1"},"recipients":{"layer:///identities/bo":{"text":"for bo"}}}
                """)
        let body = Array(
            #"{"parts":[{"body":"x","mime_type":"a/b"}],"notification":\#(json)}"#.utf8)
        let ana = try UserID("ana").validated()
        let draft = try MessageDraftJSON.read(try JSONDocument(body).root, by: ana)
        #expect(draft.notification == Array(json.utf8))
        for recipients in [
            [
                "bo": { () -> PushOptions in
                    var nested = PushOptions()
                    nested.recipients = ["cy": PushOptions()]
                    return nested
                }()
            ], [".": PushOptions()],
            ["bo": PushOptions(text: String(repeating: "x", count: 64 << 10))],
        ] as [[UserID: PushOptions]] {
            options.recipients = recipients
            #expect { try options.json() } throws: { error in
                (error as? ParleyError)?.code == .invalidMessage
            }
        }
    }

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
        let token = try await ana.engine.session.currentToken()
        ana.connect()
        try await eventually("the token is registered") {
            try await ana.rowCount(of: "outbox") == 0
        }
        try await ana.unregisterPushToken()
        try await eventually("it is gone") { try await ana.rowCount(of: "outbox") == 0 }
        try await eventually("the log says that it has everything") {
            try JSONDocument(await ana.diagnostics()).root["log"]?.elements.contains { line in
                line.string?.contains("the store has everything component=feed") == true
            } == true
        }
        let all = String(decoding: try await ana.diagnostics(), as: UTF8.self)
        #expect(all.contains("a session has begun component=session"))
        #expect(all.contains(#""connection":"live""#))
        #expect(!all.contains(token))
        await ana.close()
    }
}
