import FoundationEssentials
import Glibc
import HTTP
import JSON
import Messaging
import SQL
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// How a client follows the feed.
@Suite(.timeLimit(.minutes(10))) struct FeedTests {
    @Test(arguments: [20, 21])
    func `a transaction that takes long is divided, so that commands come between (K16)`(
        items: Int
    ) async throws {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            try transaction.sql.execute("CREATE TABLE cursors (cursor TEXT NOT NULL)")
            try transaction.sql.execute(
                """
                CREATE TRIGGER cursor_stored AFTER INSERT ON settings WHEN NEW.name = 'cursor' BEGIN
                    INSERT INTO cursors (cursor) VALUES (NEW.value);
                END
                """)
        }
        var applier = FeedApplier(sample.store, after: nil, limit: .zero)
        for number in 1...items {
            let item = #"{"type":"identity","id":"layer:///identities/u\#(number)","data":null}"#
            _ = try applier.add(
                ServerSentEvent(type: "item", data: Array(item.utf8), id: "e.\(number)"))
        }
        try await applier.apply()
        let cursors = try await sample.store.read { sql in
            try sql.rows("/* test */ SELECT cursor FROM cursors ORDER BY rowid") { row in
                try row.text("cursor")
            }
        }
        // So few items may be of one event, which is not divided.
        #expect(cursors == (items == 20 ? ["e.20"] : (1...items).map { "e.\($0)" }))
    }

    @Test func `of two requests for the feed the one that is behind applies nothing (K10, K15)`()
        async throws
    {
        let sample = try await SampleStore()
        try await sample.change { transaction in
            for user in ["ann", "bob"] {
                try transaction.sql.execute(
                    "INSERT INTO identities (user, is_followed, snapshot) VALUES (\(user), 1, 0)")
            }
        }
        func removal(of user: String) -> String {
            #"{"type":"identity","id":"layer:///identities/\#(user)","data":null}"#
        }
        var (stream, pass) = (
            FeedApplier(sample.store, after: nil), FeedApplier(sample.store, after: nil)
        )
        _ = try stream.add(
            ServerSentEvent(type: "item", data: Array(removal(of: "ann").utf8), id: "e.6"))
        try await stream.apply()
        let answer =
            #"{"items":[\#(removal(of: "bob"))],"cursor":"e.5","more":false,"reset":false}"#
        let page = try JSONDocument(Array(answer.utf8)).root
        await #expect(throws: ParleyError.feedHasMoved) { _ = try await pass.apply(answer: page) }
        let followed = try await sample.identities().filter(\.isFollowed).map(\.id)
        #expect(followed == ["bob"])
        #expect(try await sample.store.read { try StoreTransaction($0).setting("cursor") } == "e.6")
        // A later pass moves the cursor, and the stream goes on from where it was.
        pass = FeedApplier(sample.store, after: "e.6")
        let later = #"{"items":[],"cursor":"e.8","more":false,"reset":false}"#
        #expect(try await pass.apply(answer: try JSONDocument(Array(later.utf8)).root) == false)
        _ = try stream.add(
            ServerSentEvent(type: "item", data: Array(removal(of: "bob").utf8), id: "e.9"))
        try await stream.apply()
        #expect(try await sample.identities().allSatisfy { !$0.isFollowed })
    }

    @Test(arguments: [("e", 5, true), ("e", 3, false), ("d", 5, false)])
    func `a message sent during a snapshot is kept if the snapshot is older (K18, K28)`(
        epoch: String, answered: Int, isKept: Bool
    ) async throws {
        let sample = try await SampleStore()
        let (conversation, message) = (conversationID(1), messageID(1))
        try await sample.change { transaction in
            try transaction.insertConversation(conversation)
            try transaction.sql.execute(
                """
                INSERT INTO messages (id, conversation, position, place)
                VALUES (\(message.bytes), \(conversation.bytes), 1, 1)
                """)
            let number = try transaction.enqueue(
                .send, lane: .conversation(conversation), conversation: conversation,
                message: message, at: Clock.now)
            try transaction.sql.execute(
                """
                UPDATE outbox SET answered_epoch = \(epoch), answered_position = \(answered)
                WHERE number = \(number)
                """)
        }
        var applier = FeedApplier(sample.store, after: nil)
        for type in ["reset", "ready"] {
            _ = try applier.add(ServerSentEvent(type: type, data: Array("{}".utf8), id: "e.4"))
        }
        try await applier.apply()
        let messages = try await sample.store.read { sql in
            try sql.rows("/* test */ SELECT id FROM messages") { row in try row.blob("id") }
        }
        #expect(messages == (isKept ? [message.bytes] : []))
    }

    @Test func `a name that a message mentions is a change (K60, K65)`() async throws {
        let sample = try await SampleStore()
        var sets = sample.runner.results(
            Query<Identity>(), window: .all, updating: nil
        ).makeAsyncIterator()
        #expect(try await sets.next()?.elements.isEmpty == true)
        let commits = sample.store.commits.subscribe()
        func mention(_ name: String) async throws -> [ObjectChange] {
            try await sample.change { transaction in
                let bo = try UserID("bo").validated()
                try transaction.apply(
                    MessageSnapshot(
                        message: Messaging.Message(
                            id: messageID(1).value, conversation: conversationID(1).value,
                            position: Position(1), sender: .user(bo), sentAt: Clock.now, parts: []),
                        sender: BasicIdentity(userID: bo, displayName: name), recipients: [],
                        isUnread: true, receivedAt: nil), messageID(1))
                transaction.noteCommand()
            }
            return await commits.next()?.changes.filter { $0.object == .identity("bo") } ?? []
        }
        #expect(try await mention("Bo").map(\.kind) == [.created])
        #expect(try await sets.next()?.elements.map(\.displayName) == ["Bo"])
        #expect(try await mention("Bo").isEmpty)
        #expect(try await mention("Bob").map(\.kind) == [.updated(property: "identity")])
        #expect(try await sets.next()?.elements.map(\.displayName) == ["Bob"])
    }

    @Test(arguments: [.max, 1 << 53, 1 << 53 - 1] as [Int64])
    func `no number of the feed stops the process (K69)`(number: Int64) async throws {
        let sample = try await SampleStore()
        let id = conversationID(1)
        let conversation = """
            {"type":"conversation","id":"\(id)","data":{"id":"\(id)","created_at":"2026-01-01T00:00:00.000Z",
            "participants":[],"distinct":false,"metadata":{},"last_message":null,"unread_message_count":\(number),
            "total_message_count":\(number),"aliases":[],"top":\(number),"window_from":1,"cleared_to":0}}
            """
        func receipts(_ read: String) -> String {
            """
            {"type":"receipts","id":"x","data":{"conversation":"\(id)","user":"layer:///identities/bo",
            "delivered":"\(read)","read":"\(read)"}}
            """
        }
        func message(_ sizes: [Int64]) -> String {
            let parts = sizes.enumerated().map { index, size in
                """
                {"id":"\(messageID(1))/parts/\(conversationID(index).value.uuid)","mime_type":"a/b",
                "content":{"id":"layer:///content/\(conversationID(index).value.uuid)","size":\(size)}}
                """
            }
            return """
                {"type":"message","id":"\(messageID(1))","data":{"id":"\(messageID(1))","conversation":{"id":"\(id)"},
                "position":65536,"parts":[\(parts.joined(separator: ","))],"sent_at":"2026-01-01T00:00:00.000Z",
                "received_at":null,"is_unread":false,"sender":{"user_id":null,"display_name":"News"},"recipient_status":{}}}
                """
        }
        var applied = 0
        for item in [
            conversation, receipts("1-\(number)"), receipts("1-3,5-\(number)"),
            message([number, number, number]),
        ] {
            let answer = #"{"items":[\#(item)],"more":false,"cursor":"e.1"}"#
            let root = try JSONDocument(Array(answer.utf8)).root
            var applier = FeedApplier(sample.store, after: nil)
            do throws(ParleyError) {
                _ = try await applier.apply(answer: root)
                applied += 1
            } catch {
                #expect(error.code == .server)
            }
            try await sample.change { transaction in try transaction.set("cursor", nil) }
        }
        #expect(applied == (number < 1 << 53 ? 4 : 0))
        try await sample.change { transaction in
            try transaction.insertConversation(id)
            try transaction.addMessage(2, in: 1, position: nil)
            transaction.touch(id)
        }
        var sets = sample.runner.results(
            Query<Message>(where: { $0.conversation == id }), window: .last(3), updating: nil
        ).makeAsyncIterator()
        #expect(try await sets.next()?.elements.count == (number < 1 << 53 ? 2 : 0))
    }

    @Test func `a client killed while it catches up has a prefix of the feed (K10)`() async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"]).id
        var last: Message?
        for number in 1...600 {
            last = try await ana.send([.text("\(number)")], to: conversation)
        }
        ana.connect()
        try await ana.waitUntilSent(try #require(last).id)
        let configuration = server.configuration("bo")
        var seen = 0
        for round in 1...TestRounds.number(4, of: 200) {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    server = configuration.server.absoluteString as String,
                    store = configuration.store.path as String, round = round as Int
                ] in
                var configuration = Configuration(
                    server: try #require(URL(string: server)), application: KitServer.application,
                    store: URL(filePath: store), developmentUser: "bo")
                configuration.history = .all
                let client = try await openClient(configuration)
                let before = try await client.count(Query<Message>())
                client.connect()
                // Not later than the first commit; after that at any moment. A client that has everything gets no more.
                while round % 4 > 0, client.connection != .live,
                    try await client.count(Query<Message>()) == before
                {
                    try await Task.sleep(for: .milliseconds(1))
                }
                try await Task.sleep(for: .microseconds(.random(in: 0...60_000)))
                kill(getpid(), SIGKILL)
            }
            let bo = try await openClient(configuration)
            let positions = try await bo.messages(in: conversation).compactMap(\.position)
            #expect(positions == Array(1...Int64(600)).prefix(positions.count).map { $0 })
            #expect(positions.count >= seen, "a committed item is gone")
            seen = positions.count
            await bo.close()
            // With everything here the next kill would hit nothing.
            if seen == 600 {
                try FileManager.default.removeItem(atPath: configuration.store.path)
                seen = 0
            }
        }
        let bo = try await openClient(configuration)
        try await bo.catchUp(within: .seconds(120))
        #expect(try await bo.texts(in: conversation) == (1...600).map(String.init))
        for client in [ana, bo] { await client.close() }
    }

    @Test(arguments: [true, false])
    func `a stream that a proxy holds back is replaced by long polling (K11)`(
        holdsHead: Bool
    ) async throws {
        let server = try KitServer()
        var configuration = server.configuration("bo")
        configuration.streamPatience = .milliseconds(300)
        let transport = BufferingTransport(
            base: try openTransport(configuration), holdsHead: holdsHead)
        let bo = try await ParleyClient(configuration, transport)
        try await bo.authenticate()
        let ana = try await server.client("ana")
        ana.connect()
        bo.connect()
        try await eventually("bo polls") { bo.connection == .live }
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.send([.text("Hello")], to: conversation)
        try await eventually("bo has the message") {
            try await bo.texts(in: conversation) == ["Hello"]
        }
        let streams = transport.streams.withLock { $0 }
        await bo.disconnect()
        bo.connect()
        try await eventually("bo is live again") { bo.connection == .live }
        #expect(transport.streams.withLock { $0 } == streams, "a stream was opened again")
        for client in [ana, bo] { await client.close() }
    }

    @Test func `an answer ends the feed's delay unless the server named it, and stays (K14, K18)`()
        async throws
    {
        let server = try KitServer()
        let configuration = server.configuration("ana")
        let transport = BrokenFeedTransport(base: try openTransport(configuration))
        let ana = try await ParleyClient(configuration, transport)
        try await ana.authenticate()
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        // After so many failures a delay has up to a minute.
        for number in 1...10 {
            try await eventually("the feed has failed \(number) times") {
                ana.kick()
                return transport.attempts.withLock { $0 } >= number
            }
        }
        try await ana.waitUntilSent(try await ana.send([.text("one")], to: conversation).id)
        // The answers of the creation and of the message stay without a feed.
        #expect(try await ana.conversation(conversation)?.lastMessage?.isSent == true)
        let attempts = transport.attempts.withLock { $0 }
        try await eventually("the feed is requested again", within: .seconds(20)) {
            // The answer may come while a request is on its way.
            try await ana.waitUntilSent(try await ana.send([.text("more")], to: conversation).id)
            return transport.attempts.withLock { $0 } > attempts + 2
        }
        transport.isBusy.withLock { $0 = true }
        try await eventually("the server has named a delay") {
            ana.kick()
            if case .waiting(let end, _) = ana.connection { return end.timeIntervalSinceNow > 500 }
            return false
        }
        // The last kick may cause one more request.
        var (last, restedSince) = (-1, ContinuousClock.now)
        try await eventually("no request is on its way") {
            let now = transport.attempts.withLock { $0 }
            if now != last { (last, restedSince) = (now, .now) }
            return ContinuousClock.now - restedSince > .seconds(2)
        }
        try await ana.waitUntilSent(try await ana.send([.text("two")], to: conversation).id)
        try await Task.sleep(for: .milliseconds(300))
        #expect(transport.attempts.withLock { $0 } == last)
        await ana.close()
    }

    @Test func `a client begins with the first unread message, or the newest (K12)`() async throws {
        let server = try KitServer()
        let (ana, tablet) = (
            try await server.client("ana"), try await server.client("bo", device: "tablet")
        )
        ana.connect()
        tablet.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        for number in 1...10 { try await ana.send([.text("\(number)")], to: conversation) }
        try await eventually("the tablet has all") {
            try await tablet.messages(in: conversation).count == 10
        }
        let read = try await tablet.messages(in: conversation).prefix(6)
        try await tablet.markAsRead(Set(read.map(\.id)))
        try await eventually("the server knows") { try await tablet.rowCount(of: "outbox") == 0 }
        let phone = try await server.client("bo", history: .unread)
        try await phone.catchUp(within: .seconds(120))
        #expect(try await phone.texts(in: conversation) == ["7", "8", "9", "10"])
        try await tablet.markAllAsRead(in: conversation)
        try await eventually("the server knows") { try await tablet.rowCount(of: "outbox") == 0 }
        let watch = try await server.client("bo", device: "watch", history: .unread)
        try await watch.catchUp(within: .seconds(120))
        #expect(try await watch.texts(in: conversation) == ["10"])
        #expect(try await watch.conversation(conversation)?.totalCount == 10)
        // The choice of the first run stays.
        await watch.close()
        let again = try await server.client("bo", device: "watch", history: .all)
        #expect(
            try await again.store.read { try StoreTransaction($0).setting("history") } == "unread")
        for client in [ana, tablet, phone, again] { await client.close() }
    }

    @Test func `a cursor that the server cannot read begins a snapshot (Y1)`() async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("one")], to: conversation).id)
        await ana.disconnect()
        for cursor in ["", "?", "0123456789abcdef.x", String(repeating: "9", count: 300)] {
            try await ana.store.write { transaction in try transaction.set("cursor", cursor) }
            ana.connect()
            try await eventually("the client is live") { ana.connection == .live }
            #expect(try await ana.texts(in: conversation) == ["one"])
            await ana.disconnect()
        }
        await ana.close()
    }

    @Test(arguments: [true, false])
    func `no shown value goes back between an answer and the feed (K18)`(
        answerFirst: Bool
    ) async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        let configuration = server.configuration("bo")
        let transport = HeldTransport(base: try openTransport(configuration))
        let bo = try await ParleyClient(configuration, transport)
        try await bo.authenticate()
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("one")], to: conversation)
        try await bo.waitFor(.message(first.id), within: .seconds(120))
        try await eventually("bo has nothing to send") {
            try await bo.rowCount(of: "outbox") == 0
        }
        (answerFirst ? transport.feed : transport.answers).close()
        try await bo.setMetadata("blue", at: "color", of: conversation)
        try await bo.markAllAsRead(in: conversation)
        let message = try await bo.send([.text("two")], to: conversation)
        try await bo.delete(first.id, .myDevices)
        // What is shown now is shown after every commit.
        let commits = bo.store.commits.subscribe()
        let check: @Sendable () async throws -> Void = {
            try await bo.read { reader in
                let shown = try reader.conversation(conversation)
                #expect(shown?.metadata == ["color": "blue"])
                #expect(shown?.unreadCount == 0)
                #expect(shown?.totalCount == 1)
                #expect(shown?.lastMessage?.id == message.id)
                #expect(try reader.message(first.id) == nil)
                #expect(try reader.message(message.id) != nil)
            }
        }
        let watcher = Task { () async throws -> Int in
            var count = 0
            while await commits.next() != nil {
                try await check()
                count += 1
            }
            return count
        }
        try await check()
        if answerFirst {
            try await eventually("every command is answered") {
                try await bo.store.read { try StoreTransaction($0).nextRows().isEmpty }
            }
            #expect(try await bo.rowCount(of: "outbox") > 0)
        } else {
            try await eventually("the other side has everything") {
                try await ana.conversation(conversation)?.metadata == ["color": "blue"]
            }
            #expect(try await bo.store.read { try StoreTransaction($0).nextRows().count } > 0)
        }
        transport.feed.open()
        transport.answers.open()
        try await eventually("everything is confirmed") {
            try await bo.rowCount(of: "outbox") == 0
        }
        try await check()
        #expect(try await bo.message(message.id)?.isSent == true)
        commits.close()
        #expect(try await watcher.value > 0)
        for client in [ana, bo] { await client.close() }
    }
}

/// Passes on everything but the feed, which cannot be reached.
private struct BrokenFeedTransport: Transport {
    let base: any Transport
    let attempts = Locked(0)
    /// Whether the feed is answered with a delay instead.
    let isBusy = Locked(false)

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        try await base.send(request)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        guard request.path.hasPrefix("/events") else { return try await base.open(request) }
        attempts.withLock { $0 += 1 }
        guard isBusy.withLock({ $0 }) else {
            throw ParleyError(.network, "The connection was reset.", isTransient: true)
        }
        return BusyStream()
    }

    private struct BusyStream: TransportStream {
        let status = 503
        let headers = Fields([(name: "Retry-After", value: "600")])

        func next() async throws(ParleyError) -> [UInt8]? { nil }

        func cancel() {}
    }
}

/// A proxy that passes on complete answers and keeps back streams, with their heads or without.
private struct BufferingTransport: Transport {
    let base: any Transport
    let holdsHead: Bool
    let streams = Locked(0)

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        try await base.send(request)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        guard request.path.hasPrefix("/events") else { return try await base.open(request) }
        streams.withLock { $0 += 1 }
        if holdsHead { try await Self.never() }
        return SilentStream(base: try await base.open(request))
    }

    fileprivate static func never() async throws(ParleyError) {
        do { try await Task.sleep(for: .seconds(3600)) } catch { throw .cancelled }
    }
}

private struct SilentStream: TransportStream {
    let base: any TransportStream
    private let ended: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(base: any TransportStream) {
        self.base = base
        (ended, end) = AsyncStream.makeStream()
    }

    var status: Int { base.status }
    var headers: Fields { base.headers }

    func next() async throws(ParleyError) -> [UInt8]? {
        for await _ in ended {}
        throw .cancelled
    }

    func cancel() {
        end.finish()
        base.cancel()
    }
}
