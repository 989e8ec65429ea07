import FoundationEssentials
import Messaging
import TestSupport
import Testing

@testable import ParleyKit

/// Sequences of changes and signals, errors, and limits.
@Suite(.timeLimit(.minutes(10))) struct ChangesTests {
    @Test func `every reader gets every commit in order, a slow one resynchronises (K65, K70)`()
        async throws
    {
        let folder = TemporaryFolder()
        let store = try Store(folder: folder.path, onPrepare: StatementPlans.clientObserver)
        let sequence = ChangeSequence(store.commits)
        var readers = (0..<3).map { _ in sequence.makeAsyncIterator() }
        var slow = sequence.makeAsyncIterator()
        var slower = sequence.makeAsyncIterator()
        func write(_ count: Int, _ name: String) async throws {
            try await store.write { transaction in
                for number in 0..<count {
                    transaction.note(.created, of: .identity(UserID("\(name)\(number)")))
                }
            }
        }
        for commit in 0..<3 {
            try await write(2, "\(commit)-")
            for reader in readers.indices {
                let changes = await readers[reader].next()
                #expect(changes?.map(\.object.description) == ["\(commit)-0", "\(commit)-1"])
            }
        }
        #expect(
            await slow.next()?.map(\.object.description) == [
                "0-0", "0-1", "1-0", "1-1", "2-0", "2-1",
            ])
        try await write(9_994, "more")
        #expect(await slower.next()?.count == 10_000)
        try await write(5_000, "x")
        #expect(await slow.next()?.map(\.kind) == [.resynchronize])
        #expect(await slower.next()?.count == 5_000)
        store.close()
        #expect(await slow.next() == nil)
    }

    @Test func `an update has the values before and after it (K65)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("Hello")], to: conversation)
        try await bo.waitFor(.message(first.id), within: .seconds(120))
        try await eventually("bo has nothing to send") {
            try await bo.rowCount(of: "outbox") == 0
        }
        await bo.disconnect()
        let object = ObjectID.conversation(conversation)
        func change(
            _ property: String, _ before: PropertyValue?, _ after: PropertyValue?,
            of object: ObjectID = object
        ) -> ObjectChange {
            ObjectChange(
                object: object, kind: .updated(property: property), before: before, after: after)
        }
        var changes = bo.changes.makeAsyncIterator()
        try await bo.setMetadata("blue", at: "color", of: conversation)
        #expect(await changes.next() == [change("metadata.color", nil, .text("blue"))])
        try await bo.setMetadata("red", at: "color", of: conversation)
        #expect(await changes.next() == [change("metadata.color", .text("blue"), .text("red"))])
        try await bo.deleteMetadata(at: ["color"], of: conversation)
        #expect(await changes.next() == [change("metadata.color", .text("red"), nil)])
        try await bo.markAsRead([first.id])
        #expect(
            await changes.next() == [
                change("isUnread", .flag(true), .flag(false), of: .message(first.id)),
                change("unreadCount", .number(1), .number(0)),
            ])
        try await bo.add(["cy"], to: conversation)
        #expect(
            await changes.next() == [
                change("participants", .users(["ana", "bo"]), .users(["ana", "bo", "cy"])),
                change("isDistinct", .flag(true), .flag(false)),
            ])
        let second = try await bo.send([.text("Hi")], to: conversation)
        #expect(
            await changes.next() == [
                ObjectChange(object: .message(second.id), kind: .created),
                change("totalCount", .number(1), .number(2)),
                change("lastMessage", .message(first.id), .message(second.id)),
            ])
        for client in [ana, bo] { await client.close() }
    }

    @Test func `typing is sent rarely, and ended by a message (K66)`() async throws {
        let typing = TypingState()
        let id = Conversation.ID(.v7(at: Clock.now, random: 1))
        let other = Conversation.ID(.v7(at: Clock.now, random: 2))
        let start = ContinuousClock.now
        let sent = [0, 100, 2400, 2600, 5000, 5200].map { milliseconds in
            typing.mustSend(.started, in: id, at: start + .milliseconds(milliseconds))
        }
        #expect(sent == [true, false, false, true, false, true])
        #expect(typing.mustSend(.started, in: other, at: start))
        #expect(typing.mustSend(.paused, in: id, at: start + .seconds(6)))
        #expect(!typing.hasStarted(in: id))
        #expect(typing.mustSend(.started, in: id, at: start + .seconds(6)))

        let server = try KitServer()
        let bo = try await server.client("bo")
        let configuration = server.configuration("ana")
        let transport = HeldTransport(base: try openTransport(configuration))
        let ana = try await ParleyClient(configuration, transport)
        try await ana.authenticate()
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("Hello")], to: conversation)
        try await bo.waitFor(.message(first.id), within: .seconds(120))
        try await eventually("both are live") {
            ana.connection == .live && bo.connection == .live
        }
        var signals = bo.signals.makeAsyncIterator()
        for _ in 0..<20 { ana.sendTyping(.started, in: conversation) }
        #expect(await signals.next() == .typing(.started, by: "ana", in: conversation))
        try await ana.send([.text("typed")], to: conversation)
        var end = await signals.next()
        // If this process is stalled, the server pauses it first.
        if end == .typing(.paused, by: "ana", in: conversation) { end = await signals.next() }
        #expect(end == .typing(.finished, by: "ana", in: conversation))
        let path = "POST /conversations/\(conversation.value.uuid)/typing"
        #expect(transport.count(of: path) == 2)
        for client in [ana, bo] { await client.close() }
    }

    @Test func `the typing of others ends by itself, once (K66)`() async throws {
        let signals = Publisher<ParleyKit.Signal>.all(atMost: 100)
        let id = Conversation.ID(.v7(at: Clock.now, random: 1))
        let arrived = signals.subscribe()
        func signal(_ action: ParleyKit.TypingAction, _ user: UserID = "ana") -> ParleyKit.Signal {
            .typing(action, by: user, in: id)
        }
        let typing = ReceivedTyping(signals, lasting: .seconds(1))
        let start = ContinuousClock.now
        typing.receive(signal(.started))
        #expect(await arrived.next() == signal(.started))
        try await Task.sleep(for: .milliseconds(300))
        typing.receive(signal(.started))
        #expect(await arrived.next() == signal(.started))
        #expect(await arrived.next() == signal(.finished))
        #expect(ContinuousClock.now - start >= .milliseconds(1300))
        // The server says so too.
        typing.receive(signal(.finished))
        typing.receive(signal(.paused, "bo"))
        #expect(await arrived.next() == signal(.paused, "bo"))
        typing.endAll()
        #expect(await arrived.next() == signal(.finished, "bo"))
        typing.receive(.presence(.busy, of: "bo"))
        #expect(await arrived.next() == .presence(.busy, of: "bo"))
    }

    @Test func `signals of others arrive while connected (K66)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        var signals = bo.signals.makeAsyncIterator()
        // Without a connection nothing is sent.
        ana.sendTyping(.paused, in: conversation)
        ana.connect()
        bo.connect()
        let first = try await ana.send([.text("Hello")], to: conversation)
        try await bo.waitFor(.message(first.id), within: .seconds(120))
        try await eventually("both are live") {
            ana.connection == .live && bo.connection == .live
        }
        ana.sendTyping(.started, in: conversation)
        #expect(await signals.next() == .typing(.started, by: "ana", in: conversation))
        ana.sendTyping(.finished, in: conversation)
        var end = await signals.next()
        // If this process is stalled, the server pauses it first.
        if end == .typing(.paused, by: "ana", in: conversation) { end = await signals.next() }
        #expect(end == .typing(.finished, by: "ana", in: conversation))
        try await bo.follow(["ana"])
        try await eventually("ana is followed") { try await bo.rowCount(of: "outbox") == 0 }
        ana.setPresence(.busy)
        #expect(await signals.next() == .presence(.busy, of: "ana"))
        for client in [ana, bo] { await client.close() }
    }

    @Test func `the article of errors lists every code (K68)`() throws {
        let article = try String(
            contentsOf: URL(
                filePath: #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
                    + "/Sources/ParleyKit/ParleyKit.docc/Errors.md"), encoding: .utf8)
        let listed = article.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        #expect(Set(listed) == Set(ParleyError.Code.allCases.map(\.rawValue)))
        #expect(listed.count == Set(listed).count)
        for code in ParleyError.Code.allCases {
            let error = ParleyError(
                code, "text", server: .init(status: 1, id: "i", code: 2, message: "m"),
                isTransient: true)
            #expect(ParleyError(stored: error.stored) == error)
        }
    }

    @Test func `cancelling a task ends its waiting, not the command (K70)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let message = try await ana.send([.text("Hello")], to: conversation)
        let waiting = Task { () async -> ParleyError? in
            do throws(ParleyError) {
                try await ana.waitUntilSent(message.id)
                return nil
            } catch {
                return error
            }
        }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        ana.connect()
        bo.connect()
        try await bo.waitFor(.message(message.id), within: .seconds(120))
        for client in [ana, bo] { await client.close() }
    }

    @Test func `user ids, pages and transactions have limits (K73)`() async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        let configuration = server.configuration("bo", history: .newest(0))
        let transport = HeldTransport(base: try openTransport(configuration))
        let bo = try await ParleyClient(configuration, transport)
        try await bo.authenticate()
        let longest = UserID(String(repeating: "ü", count: 128))
        for user in ["", ".", "..", "a\u{0}b", UserID(longest.text + "x")] as [UserID] {
            await #expect(throws: ParleyError.self) { try await ana.newConversation(with: [user]) }
            await #expect(throws: ParleyError.self) { try await ana.follow([user]) }
        }
        let conversation = try await ana.newConversation(with: ["bo", longest]).id
        var last: Message?
        for number in 1...130 {
            last = try await ana.send([.text("\(number)")], to: conversation)
        }
        ana.connect()
        try await ana.waitUntilSent(try #require(last).id)
        try await bo.catchUp(within: .seconds(120))
        #expect(try await bo.loadOlder(500, in: conversation) == 130)
        #expect(transport.count(of: "GET /conversations") == 2)
        #expect(try await bo.texts(in: conversation) == (1...130).map(String.init))
        #expect(FeedApplier.batchSize == 200)
        for client in [ana, bo] { await client.close() }
    }
}
