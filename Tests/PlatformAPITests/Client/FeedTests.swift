import JSON
import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

@Suite struct `GET /events of a session` {
    /// A conversation of ana and bo, and bo's session.
    private struct Chat {
        let login: LoginFixture
        let session: String
        let conversation: Conversation.ID

        static func make() async throws -> Chat {
            let login = try await LoginFixture.make()
            let conversation = try await login.sample.conversation()
            return Chat(
                login: login, session: try await login.session(of: "bo"),
                conversation: conversation)
        }

        func feed(_ query: String = "") async throws -> JSONValue {
            let answer = try await login.send("GET", "/events\(query)", session: session)
            #expect(answer.status == 200, "\(answer.body)")
            return try #require(answer.json)
        }

        func send() async throws {
            try await login.sample.sendMessages(1, in: conversation)
        }

        func stream(_ query: String = "", lastEventID: String? = nil) throws -> LiveStream {
            try LiveStream(
                login.sample, target: "/events?session_token=\(session)\(query)",
                lastEventID: lastEventID)
        }
    }

    private func types(_ feed: JSONValue) -> [String] {
        feed["items"]?.elements.compactMap { item in item["type"]?.string } ?? []
    }

    @Test func `answers the state from nothing, then what has changed (X13, Y1)`() async throws {
        let chat = try await Chat.make()
        try await chat.send()
        let first = try await chat.feed()
        #expect(first["reset"]?.bool == true)
        #expect(first["more"]?.bool == false)
        #expect(Set(types(first)).isSuperset(of: ["identity", "conversation", "message"]))
        let item = try #require(
            first["items"]?.elements.first { item in item["type"]?.string == "conversation" })
        #expect(item["id"]?.string == "layer:///conversations/\(chat.conversation.uuid)")
        #expect(item["data"]?["top"]?.integer == 1)
        #expect(item["data"]?["window_from"]?.integer == 1)
        #expect(item["data"]?["last_message"]?.string?.hasPrefix("layer:///messages/") == true)
        let cursor = try #require(first["cursor"]?.string)
        let none = try await chat.feed("?after=\(cursor)")
        #expect(types(none).isEmpty)
        #expect(none["reset"]?.bool == false)
        try await chat.send()
        let next = try await chat.feed("?after=\(cursor)&limit=1")
        #expect(types(next) == ["conversation"])
        #expect(next["more"]?.bool == true)
        let rest = try await chat.feed("?after=\(try #require(next["cursor"]?.string))")
        #expect(types(rest) == ["message"])
    }

    @Test func `holds an answer until something has changed (Y1)`() async throws {
        let chat = try await Chat.make()
        let cursor = try #require(try await chat.feed()["cursor"]?.string)
        async let held = chat.feed("?after=\(cursor)&wait=60")
        try await Task.sleep(for: .milliseconds(200))
        try await chat.send()
        #expect(Set(types(try await held)) == ["conversation", "message"])
    }

    @Test func `streams the same, and resumes after every event (X13, Y1)`() async throws {
        let chat = try await Chat.make()
        try await chat.send()
        let stream = try chat.stream()
        var seen: [LiveStream.Event] = []
        while seen.last?.type != "ready" {
            let more = try await stream.next(1)
            try #require(!more.isEmpty)
            seen += more
        }
        #expect(stream.head.contains("Content-Type: text/event-stream"))
        #expect(seen.first?.type == "reset")
        #expect(seen.allSatisfy { event in !event.cursor.isEmpty })
        for (index, event) in seen.enumerated() {
            let resumed = try chat.stream(lastEventID: event.cursor)
            let left = seen.count - 1 - index
            let rest = try await resumed.next(max(1, left))
            #expect(rest.last?.type == "ready")
            #expect(left == 0 || rest.map(\.data) == seen.dropFirst(index + 1).map(\.data))
        }
        try await chat.send()
        let live = try await stream.next(2)
        #expect(live.map(\.type) == ["item", "item"])
    }

    @Test func `a slow stream misses nothing (Y1, H156)`() async throws {
        let chat = try await Chat.make()
        let stream = try LiveStream(
            chat.login.sample, target: "/events?session_token=\(chat.session)&history=all",
            receiveBuffer: 4096)
        // More than all buffers hold.
        try await chat.login.sample.sendMessages(100, in: chat.conversation, parts: 40)
        var seen: Set<String> = []
        while seen.count < 100 {
            let event = try #require(try await stream.next(1).first)
            let item = try JSONDocument(Array(event.data.utf8)).root
            if item["type"]?.string == "message", let id = item["id"]?.string { seen.insert(id) }
        }
    }

    @Test(arguments: [10, 3_600_000])
    func `tells of receipts in wide conversations once in an interval (ruling 38)`(
        interval: Int64
    ) async throws {
        let chat = try await SocketChat.make(in: .wide(receiptInterval: interval))
        let names = ["cy", "dee", "eve"].map { name in "\"layer:///identities/\(name)\"" }
        let widened = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            "["
                + names.map { name in
                    #"{"operation":"add","property":"participants","id":\#(name)}"#
                }.joined(separator: ",") + "]", session: chat.ana)
        #expect(widened.status == 204, "\(widened.body)")
        var sent: [String] = []
        for _ in 0..<10 { sent.append(try await chat.send()) }
        let cy = try await chat.login.session(of: "cy")
        let stream = try LiveStream(
            chat.login.sample, target: "/events?session_token=\(chat.bo)")
        var last = ""
        while last != "ready" { last = try #require(try await stream.next(1).first).type }
        for id in sent {
            try await chat.post("/messages/\(id)/receipts", #"{"type":"read"}"#, by: cy)
        }
        // In the long interval only something else brings them, and then once.
        if interval > 1000 { sent.append(try await chat.send()) }
        var items: [JSONValue] = []
        while items.last?["data"]?["read"]?.string != "1-10" {
            let event = try #require(try await stream.next(1).first)
            items.append(try JSONDocument(Array(event.data.utf8)).root)
        }
        #expect(items.last?["data"]?["user"]?.string == "layer:///identities/cy")
        if interval > 1000 { #expect(items.count == 1) }
    }

    @Test func `ends with the session (R92, Y1)`() async throws {
        let chat = try await Chat.make()
        let stream = try chat.stream()
        var last = ""
        while last != "ready" { last = try #require(try await stream.next(1).first).type }
        let ended = try await chat.login.sendAsServer("DELETE", "/apps/{app}/users/bo/sessions")
        #expect(ended.status == 204)
        #expect(try await stream.next(1).isEmpty)
        #expect(try await chat.login.send("GET", "/events", session: chat.session).status == 401)
    }

    @Test func `ends with the session while the client is yet to be sent what it missed (R92, Y1)`()
        async throws
    {
        let chat = try await SocketChat.make()
        // More than the buffers between the server and a client that does not read hold.
        for _ in 0..<50 { _ = try await chat.sendLarge() }
        let stream = try LiveStream(
            chat.login.sample, target: "/events?session_token=\(chat.bo)&history=all",
            receiveBuffer: 4096)
        #expect(try await stream.next(1).count == 1)
        let ended = try await chat.login.sendAsServer("DELETE", "/apps/{app}/users/bo/sessions")
        #expect(ended.status == 204)
        var types: [String] = []
        while let event = try await stream.next(1).first { types.append(event.type) }
        #expect(!types.contains("ready"))
    }

    @Test func `R92: a session that another process has ended has no stream and no long poll`()
        async throws
    {
        let first = try await TestServer.onPostgres()
        // It neither receives notifications nor polls, so that it still knows the session from its cache.
        let second = try await TestServer.sharing(first, pollInterval: 3_600_000)
        let login = try await LoginFixture.make(in: first)
        let session = try await login.session(of: "bo")
        let fields = [("Authorization", "Layer session-token=\"\(session)\"")]
        let client = SocketClient(port: second.port)
        let feed = try await client.send(
            PlainRequest(method: "GET", target: "/events", fields: fields, body: ""))
        let cursor = try #require(feed.json?["cursor"]?.string)
        #expect(try await login.send("DELETE", "/sessions/\(session)").status == 204)
        let stream = try LiveStream(
            port: second.port,
            "GET /events?session_token=\(session) HTTP/1.1\r\nHost: a\r\n"
                + "Accept: text/event-stream\r\n\r\n")
        var last = [""]
        while !last.isEmpty { last = try await stream.next(1).map(\.type) }
        let poll = try await client.send(
            PlainRequest(
                method: "GET", target: "/events?after=\(cursor)&wait=60", fields: fields, body: ""))
        #expect(poll.status == 401)
    }

    @Test func `streams count for the user, in all sessions together (H157)`() async throws {
        let login = try await LoginFixture.make(in: try await TestServer.streaming(2))
        let sessions = [try await login.session(of: "bo"), try await login.session(of: "bo")]
        let streams = try sessions.map { session in
            try LiveStream(
                login.sample, target: "/events?session_token=\(session)", lastEventID: nil)
        }
        for stream in streams { try await stream.opened() }
        let third = try await login.send("GET", "/events?wait=1", session: sessions[0])
        #expect(third.status == 429)
        #expect(third.body.contains("The user has 2 event streams"), "\(third.body)")
        let other = try await login.send(
            "GET", "/events?wait=1", session: try await login.session(of: "cy"))
        #expect(other.status == 200)
    }

    @Test(arguments: [
        ("after=x", "after"), ("after=", "after"), ("history=-1", "history"),
        ("history=some", "history"), ("limit=0", "limit"), ("wait=x", "wait"),
        ("history=1&history=2", "history"),
    ])
    func `names the parameter that is invalid (Y1)`(query: String, property: String) async throws {
        let chat = try await Chat.make()
        let answer = try await chat.login.send("GET", "/events?\(query)", session: chat.session)
        #expect(answer.status == 422, "\(answer.body)")
        #expect(answer.json?["data"]?["property"]?.string == property)
    }

    @Test func `a write's cursor is where the feed has its effect (Y2)`() async throws {
        let chat = try await Chat.make()
        let cursor = try #require(try await chat.feed()["cursor"]?.string)
        let sent = try await chat.login.send(
            "POST", "/conversations/\(chat.conversation.uuid)/messages",
            #"{"parts":[{"mime_type":"text/plain","body":"hello"}]}"#, session: chat.session)
        let effect = try #require(sent["Parley-Cursor"])
        #expect(effect != cursor)
        #expect(try await chat.feed("?after=\(cursor)")["cursor"]?.string == effect)
        #expect(types(try await chat.feed("?after=\(effect)")).isEmpty)
    }
}
