import FoundationEssentials
import HTTP
import JSON
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// What a client must survive as a whole, with a real server.
@Suite(.timeLimit(.minutes(30))) struct AcceptanceTests {
    @Test func `an absence costs as many items as objects have changed (K10, K12, K13)`()
        async throws
    {
        let (conversations, messages) = (
            TestRounds.number(8, of: 50), TestRounds.number(40, of: 100)
        )
        let newest = 5
        let server = try KitServer()
        let ana = try await server.client("ana")
        // With ten of them, bo misses 100,000 receipts.
        let readers: [UserID] = (0..<TestRounds.number(1, of: 10)).map { number in
            UserID("reader \(number)")
        }
        var others: [ParleyClient] = []
        for reader in readers { others.append(try await server.client(reader)) }
        let configuration = server.configuration("bo", history: .newest(newest))
        let transport = CountingTransport(base: try openTransport(configuration))
        let bo = try await ParleyClient(configuration, transport)
        try await bo.authenticate()
        ana.connect()
        var ids: [Conversation.ID] = []
        for _ in 0..<conversations {
            let id = try await ana.newConversation(
                with: Set(readers + ["bo"]), ConversationOptions(isDistinct: false)
            ).id
            try await ana.send([.text("0")], to: id)
            ids.append(id)
        }
        try await ana.waitUntilNothingWaits()
        try await bo.catchUp(within: .seconds(120))
        transport.reset()
        // Absent: messages, two receipts of each reader for each of them, and deletions.
        for number in 1..<messages {
            for id in ids { try await ana.send([.text("\(number)")], to: id) }
        }
        try await ana.waitUntilNothingWaits()
        for client in others {
            try await client.catchUp(within: .seconds(600))
            for id in ids { try await client.markAllAsRead(in: id) }
            client.connect()
            try await client.waitUntilNothingWaits()
            await client.disconnect()
        }
        for id in ids.prefix(4) {
            for message in try await ana.messages(in: id).dropFirst(5).prefix(5) {
                try await ana.delete(message.id, .allParticipants)
            }
        }
        try await ana.waitUntilNothingWaits()
        try await bo.catchUp(within: .seconds(120))
        let (items, bodies) = (transport.items, transport.bodies)
        // Of each conversation: itself, the receipts of all users, and the newest messages; the identities of all.
        let users = readers.count + 2
        #expect(bodies <= newest * conversations, "\(bodies) bodies")
        #expect(items <= conversations * (1 + users + newest) + 20 + users, "\(items) items")
        for id in ids { try await bo.loadAll(in: id) }
        let fresh = try await server.client("bo", device: "fresh")
        try await fresh.catchUp(within: .seconds(120))
        for id in ids {
            let (own, expected) = (
                try await bo.messages(in: id), try await fresh.messages(in: id)
            )
            #expect(own.map(\.id) == expected.map(\.id))
            #expect(own.map(\.recipientStatus) == expected.map(\.recipientStatus))
            let (shown, other) = (try await bo.conversation(id), try await fresh.conversation(id))
            #expect(shown?.unreadCount == other?.unreadCount)
            #expect(shown?.totalCount == other?.totalCount)
            #expect(try await bo.queries.first(id).isUpToDate)
        }
        for client in others + [ana, bo, fresh] { await client.close() }
    }

    @Test func `clocks that are wrong by days, and that jump, change nothing (K51, K73)`()
        async throws
    {
        let server = try KitServer()
        let day: Int64 = 86_400_000
        let users: [(UserID, Int64)] = [("ana", -3 * day), ("bo", 3 * day)]
        var clients: [ParleyClient] = []
        for (user, error) in users {
            clients.append(
                try await Clock.$error.withValue(error) {
                    let client = try await server.client(user)
                    client.connect()
                    return client
                })
        }
        let (ana, bo) = (clients[0], clients[1])
        let conversation = try await Clock.$error.withValue(-3 * day) {
            try await ana.newConversation(with: ["bo"]).id
        }
        var texts: [String] = []
        for number in 0..<20 {
            let (index, jump) = (number % 2, Int64(number % 5 - 2) * day)
            let message = try await Clock.$error.withValue(users[index].1 + jump) {
                if index == 1 {
                    try await eventually("bo knows the conversation") {
                        try await bo.conversation(conversation) != nil
                    }
                }
                try await clients[index].setMetadata(
                    .text("\(number)"), at: "last", of: conversation)
                return try await clients[index].send([.text("\(number)")], to: conversation)
            }
            try await clients[index].waitUntilSent(message.id)
            texts.append("\(number)")
        }
        for client in clients {
            try await eventually("both have all in order, and the last write") {
                let metadata = try await client.conversation(conversation)?.metadata
                return try await client.texts(in: conversation) == texts
                    && metadata?["last"] == "19"
            }
        }
        // Offline, with a clock that jumps back before each message: the order is that of the calls.
        await ana.disconnect()
        for number in 20..<30 {
            try await Clock.$error.withValue(-Int64(number) * day) {
                _ = try await ana.send([.text("\(number)")], to: conversation)
            }
            texts.append("\(number)")
        }
        try await Clock.$error.withValue(10 * day) { try await bo.markAllAsRead(in: conversation) }
        #expect(try await ana.texts(in: conversation) == texts)
        ana.connect()
        for client in clients {
            try await eventually("the order stays") {
                guard try await client.texts(in: conversation) == texts else { return false }
                return try await client.rowCount(of: "outbox") == 0
            }
        }
        #expect(try await bo.conversation(conversation)?.unreadCount == 10)
        for client in clients { await client.close() }
    }

    @Test(arguments: Trouble.allCases)
    func `nothing is lost in any trouble of the network, and a kick ends it (K14, K32, K69)`(
        _ trouble: Trouble
    ) async throws {
        let server = try KitServer()
        let bo = try await server.client("bo")
        let configuration = server.configuration("ana")
        let transport = TroubledTransport(base: try openTransport(configuration))
        let ana = try await ParleyClient(configuration, transport)
        try await ana.authenticate()
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("before")], to: conversation).id)
        transport.trouble.withLock { $0 = trouble }
        let message = try await ana.send([.text("during")], to: conversation)
        try await ana.setMetadata("during", at: "when", of: conversation)
        try await eventually("the trouble was met") { transport.met.withLock { $0 } > 0 }
        try await Task.sleep(for: .milliseconds(300))
        let delivery = try #require(try await ana.message(message.id)?.delivery)
        // The feed may show what the server took although its answer was lost.
        #expect(
            delivery == .queued || delivery == .sending
                || trouble == .lostAnswer && delivery == .sent)
        transport.trouble.withLock { $0 = nil }
        // A request without an answer is given up by a kick only if it is older than this.
        if trouble == .silence { try await Task.sleep(for: TransportRequest.defaultPatience) }
        ana.kick()
        let start = ContinuousClock.now
        try await eventually("the message is sent") {
            try await ana.messages(in: conversation).allSatisfy(\.isSent)
        }
        let elapsed = ContinuousClock.now - start
        print("\(trouble): sent \(elapsed / .milliseconds(1)) ms after the kick")
        // Without the kick the longest delays would be an hour. How fast it is depends on the machine.
        #expect(elapsed < .seconds(60))
        try await eventually("bo has everything, once") {
            guard try await bo.texts(in: conversation) == ["before", "during"] else { return false }
            return try await bo.conversation(conversation)?.metadata == ["when": "during"]
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `a server without TLS is not trusted (K68)`() async throws {
        let server = try ScriptedServer { connection in
            guard connection.read(3) != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let folder = TemporaryFolder()
        let client = try await openClient(
            Configuration(
                server: URL(string: "https://127.0.0.1:\(server.port)") ?? URL(filePath: "/"),
                application: KitServer.application, store: URL(filePath: folder.path),
                sessionToken: "token", of: "ana"))
        try await client.authenticate()
        let conversation = try await client.newConversation(with: ["bo"]).id
        try await client.send([.text("Hello")], to: conversation)
        client.connect()
        try await eventually("it waits with an error") {
            if case .waiting(_, let error) = client.connection { return error.code == .insecure }
            return false
        }
        #expect(try await client.messages(in: conversation).map(\.delivery) == [.queued])
        await client.close()
    }

    @Test
    func `a server that was restored from a backup is believed, and gets what waits (K10, K28)`()
        async throws
    {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(200_000)
        let first = try await ana.send([.file(file.url, mimeType: "a/b")], to: conversation)
        try await ana.waitUntilSent(first.id)
        let part = try await bo.lastPart(in: conversation)
        try await bo.download(part.id).wait()
        fixture.server.backUp()
        let lost = try await ana.send([.text("lost")], to: conversation)
        try await ana.waitUntilSent(lost.id)
        try await bo.waitFor(.message(lost.id), within: .seconds(120))
        try await eventually("nothing waits") { try await bo.rowCount(of: "outbox") == 0 }
        await bo.disconnect()
        let waiting = try await bo.send([.text("waits")], to: conversation)
        fixture.server.restore()
        bo.connect()
        try await bo.waitUntilSent(waiting.id)
        for client in [ana, bo] {
            try await eventually("everything is as in the backup, with what waited") {
                try await client.messages(in: conversation).map(\.id) == [first.id, waiting.id]
            }
            let shown = try #require(try await client.conversation(conversation))
            #expect(shown.totalCount == 2 && shown.lastMessage?.id == waiting.id)
        }
        #expect(try await bo.bytes(of: part.id) == file.bytes)
        for client in [ana, bo] { await client.close() }
    }

    @Test(arguments: ["0123456789abcdef.1", nil])
    func `a cursor that the server does not have keeps commands and contents (K10, K28)`(
        cursor: String?
    ) async throws {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let file = try fixture.file(200_000)
        let message = try await ana.send(
            [.file(file.url, mimeType: "a/b"), .text("x")], to: conversation)
        try await ana.waitUntilSent(message.id)
        let part = try await bo.lastPart(in: conversation)
        try await bo.download(part.id).wait()
        try await eventually("nothing waits") { try await bo.rowCount(of: "outbox") == 0 }
        await bo.disconnect()
        try await bo.setMetadata("waits", at: "a", of: conversation)
        let unsent = try await bo.send([.text("waits")], to: conversation)
        try await bo.store.write { transaction in
            // A restored database has another epoch, and a trimmed log begins later than the cursor; both are answered alike.
            let epoch = try transaction.setting("cursor").flatMap { FeedPosition($0)?.epoch } ?? ""
            try transaction.set("cursor", cursor ?? "\(epoch).999999999")
        }
        let snapshot = try await bo.store.read { try StoreTransaction($0).snapshot() }
        bo.connect()
        try await bo.waitUntilSent(unsent.id)
        try await eventually("a snapshot was received") {
            try await bo.store.read { sql in
                let transaction = StoreTransaction(sql)
                return try transaction.snapshot() > snapshot
                    && transaction.setting("in_snapshot") == nil
            }
        }
        try await eventually("ana has what waited") {
            guard try await ana.texts(in: conversation).last == "waits" else { return false }
            return try await ana.conversation(conversation)?.metadata == ["a": "waits"]
        }
        #expect(try await bo.messages(in: conversation).map(\.id) == [message.id, unsent.id])
        #expect(try await bo.bytes(of: part.id) == file.bytes)
        for client in [ana, bo] { await client.close() }
    }
}

extension ParleyClient {
    /// Waits until every command has been answered.
    fileprivate func waitUntilNothingWaits() async throws {
        try await eventually("nothing waits", within: .seconds(600)) {
            try await rowCount(of: "outbox") == 0
        }
    }
}

extension QueryRunner {
    /// The first set of a live query of all messages of a conversation.
    fileprivate func first(_ id: Conversation.ID) async throws -> ResultSet<Message> {
        var sets = results(
            Query<Message>(where: { $0.conversation == id }), window: .all, updating: nil
        ).makeAsyncIterator()
        return try await sets.next() ?? ResultSet()
    }
}

/// Counts the items of the feed.
private struct CountingTransport: Transport {
    let base: any Transport
    private let counts = Locked((items: 0, bodies: 0))

    init(base: any Transport) { self.base = base }

    var items: Int { counts.withLock { $0.items } }
    var bodies: Int { counts.withLock { $0.bodies } }

    func reset() { counts.withLock { $0 = (0, 0) } }

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        let response = try await base.send(request)
        guard request.path.hasPrefix("/events"),
            let items = (try? JSONDocument(response.body))?.root["items"]
        else { return response }
        for item in items.elements {
            let isBody = item["type"]?.string == "message" && item["data"]?.kind == .object
            counts.withLock { counts in
                counts.items += 1
                if isBody { counts.bodies += 1 }
            }
        }
        return response
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        try await base.open(request)
    }
}

/// What may become of a request.
enum Trouble: CaseIterable {
    case unknownStatus, tooMany, page, reset, lostAnswer, silence
}

/// Has trouble with every request while it lasts.
private struct TroubledTransport: Transport {
    let base: any Transport
    let trouble = Locked<Trouble?>(nil)
    let met = Locked(0)

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        guard let trouble = trouble.withLock({ $0 }) else { return try await base.send(request) }
        met.withLock { $0 += 1 }
        switch trouble {
        case .unknownStatus: return Self.response(520, "<html>unknown</html>")
        case .tooMany: return Self.response(429, "", ["Retry-After": "3600"])
        case .page: return Self.response(200, "<html>Please log in.</html>")
        case .reset: throw ParleyError(.network, "The connection was reset.", isTransient: true)
        case .lostAnswer:
            _ = try await base.send(request)
            throw ParleyError(.network, "The connection was reset.", isTransient: true)
        case .silence: throw await Self.silence()
        }
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        if trouble.withLock({ $0 }) != nil { _ = try await send(request) }
        return try await base.open(request)
    }

    private static func silence() async -> ParleyError {
        try? await Task.sleep(for: .seconds(3600))
        return .cancelled
    }

    private static func response(
        _ status: Int, _ body: String, _ headers: [String: String] = [:]
    ) -> TransportResponse {
        TransportResponse(
            status: status, headers: Fields(headers.map { (name: $0.key, value: $0.value) }),
            body: Array(body.utf8))
    }
}
