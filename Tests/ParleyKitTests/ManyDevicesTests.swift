import FoundationEssentials
import HTTP
import JSON
import Messaging
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// Several devices and users that change the same objects.
@Suite(.timeLimit(.minutes(30))) struct ManyDevicesTests {
    @Test func `distinct conversations of many devices become one (K21, K23, K24)`() async throws {
        let server = try KitServer()
        var devices: [(client: ParleyClient, id: Conversation.ID)] = []
        for number in 0..<TestRounds.number(8, of: 20) {
            let (user, other): (UserID, UserID) = number % 2 == 0 ? ("ana", "bo") : ("bo", "ana")
            let client = try await server.client(user, device: "\(number)")
            let id = try await client.newConversation(with: [other]).id
            for index in 0..<2 { try await client.send([.text("\(number)-\(index)")], to: id) }
            devices.append((client, id))
        }
        for device in devices { device.client.connect() }
        let ids = Set(devices.map(\.id))
        #expect(ids.count == devices.count)
        for device in devices {
            try await eventually("a device has one conversation with all messages") {
                let conversations = try await device.client.conversations()
                guard conversations.count == 1, try await device.client.rowCount(of: "outbox") == 0
                else { return false }
                let texts = try await device.client.texts(in: conversations[0].id)
                return texts.count == 2 * devices.count
            } explain: {
                let outbox = try await device.client.outbox().joined(separator: "; ")
                return "\(try await device.client.conversations().count) conversations, \(outbox)"
            }
        }
        let winner = try await devices[0].client.conversations()[0].id
        let order = try await devices[0].client.texts(in: winner)
        #expect(Set(order).count == 2 * devices.count)
        for (number, device) in devices.enumerated() {
            #expect(try await device.client.texts(in: winner) == order)
            let own = order.filter { text in text.hasPrefix("\(number)-") }
            #expect(own == ["\(number)-0", "\(number)-1"])
            for id in ids { #expect(try await device.client.conversation(id)?.id == winner) }
            await device.client.close()
        }
    }

    @Test func `metadata of devices that are cut off end as the server has them (K51, K53)`()
        async throws
    {
        let fixture = try TransferFixture()
        let (ana, bo) = (try await fixture.client("ana"), try await fixture.client("bo"))
        for client in [ana, bo] { client.connect() }
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("Hello")], to: conversation)
        try await bo.waitFor(.message(first.id), within: .seconds(120))
        let count = TestRounds.number(100, of: 1000)
        let cuts = Task {
            var random = SeededGenerator(3)
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(random.number(20...200)))
                fixture.proxy.cut()
                for client in [ana, bo] { client.kick() }
            }
        }
        try await withThrowingTaskGroup { group in
            for (seed, client) in [(UInt64(1), ana), (2, bo)] {
                group.addTask {
                    var random = SeededGenerator(seed)
                    for number in 0..<count {
                        try await Self.write(number, &random, conversation, client)
                        if random.once(in: 5) { try await Task.sleep(for: .milliseconds(10)) }
                    }
                }
            }
            try await group.waitForAll()
        }
        cuts.cancel()
        for client in [ana, bo] {
            try await eventually("every write has its answer") {
                client.kick()
                guard client.connection == .live else { return false }
                return try await client.rowCount(of: "outbox") == 0
            }
        }
        let stored = try await fixture.server.json(
            .get, "/conversations/\(conversation.value.uuid)")["metadata"]
        let expected = Metadata(stored: try #require(stored).description)
        #expect(expected != .empty)
        for client in [ana, bo] {
            try await eventually("both have what the server has") {
                try await client.conversation(conversation)?.metadata == expected
            }
        }
        for client in [ana, bo] { await client.close() }
    }

    private static func write(
        _ number: Int, _ random: inout SeededGenerator, _ id: Conversation.ID,
        _ client: ParleyClient
    ) async throws {
        let paths: [MetadataPath] = ["a", "a.b", "a.b.c", "d", "e.f", "g.h.i"]
        let path = random.one(of: paths)
        switch random.below(10) {
        case 0: try await client.deleteMetadata(at: [path], of: id)
        case 1: try await client.setMetadata(["a": .text("\(number)")], merge: true, of: id)
        case 2: try await client.setMetadata(["z": ["y": .text("\(number)")]], merge: false, of: id)
        default: try await client.setMetadata(.text("\(number)"), at: path, of: id)
        }
    }

    @Test(arguments: TestRounds.seeds(2, of: 20))
    func `counts of devices with holes are those of the server (K13, K56, K57)`(
        seed: UInt64
    ) async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        for number in 0..<12 { try await ana.send([.text("\(number)")], to: conversation) }
        let last = try await ana.send([.text("last")], to: conversation)
        try await ana.waitUntilSent(last.id)
        var devices: [ParleyClient] = []
        for device in ["phone", "tablet"] {
            let client = try await server.client("bo", device: device, history: .newest(3))
            client.connect()
            try await client.waitFor(.message(last.id), within: .seconds(120))
            devices.append(client)
        }
        var random = SeededGenerator(seed)
        for step in 0..<60 {
            let client = devices[random.below(2)]
            let held = try await client.messages(in: conversation).map(\.id)
            switch random.below(10) {
            case 0..<3: try await client.markAsRead(Set(random.some(of: held)))
            case 3 where held.count > 4:
                do throws(ParleyError) {
                    try await client.delete(random.one(of: held), .myDevices)
                } catch {
                    // It may have been deleted elsewhere since the list was read.
                    guard error.code == .messageGone else { throw error }
                }
            case 4 where held.count > 4:
                try await ana.delete(
                    random.one(of: try await ana.messages(in: conversation)).id, .allParticipants)
            case 5: _ = try? await client.loadOlder(2, in: conversation)
            case 6: await client.disconnect()
            case 7: client.connect()
            case 8 where step % 20 == 8: try await client.markAllAsRead(in: conversation)
            default: try await ana.send([.text("step \(step)")], to: conversation)
            }
            for device in devices {
                let shown = try #require(try await device.conversation(conversation))
                #expect(shown.unreadCount >= 0 && shown.unreadCount <= shown.totalCount)
            }
        }
        for device in devices { device.connect() }
        try await eventually("nothing waits") {
            for client in devices + [ana] where try await client.rowCount(of: "outbox") > 0 {
                return false
            }
            return true
        }
        let path = "/users/bo/conversations/\(conversation.value.uuid)"
        let stored = try await server.json(.get, path)
        let unread = try #require(stored["unread_message_count"]?.integer)
        let total = try #require(stored["total_message_count"]?.integer)
        for device in devices {
            try await eventually("the counts are those of the server") {
                let shown = try await device.conversation(conversation)
                return shown?.unreadCount == Int(unread) && shown?.totalCount == Int(total)
            } explain: {
                let shown = try await device.conversation(conversation)
                return
                    "\(shown?.unreadCount ?? -1) of \(unread), \(shown?.totalCount ?? -1) of \(total)"
            }
        }
        for client in devices + [ana] { await client.close() }
    }

    @Test(arguments: [true, false])
    func `an import merges a distinct conversation below live queries and receipts (K23, K31)`(
        isConnected: Bool
    ) async throws {
        let (server, other) = (try KitServer(), try KitServer())
        let (texts, imported) = (["one", "two", "three"], ["old one", "old two"])
        let elsewhere = try await other.client("ana")
        elsewhere.connect()
        let former = try await elsewhere.newConversation(with: ["bo"]).id
        for text in imported {
            try await elsewhere.waitUntilSent(
                try await elsewhere.send([.text(text)], to: former).id)
        }
        await elsewhere.close()
        let lines = String(decoding: try await other.request(.get, "/export"), as: UTF8.self)

        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        for client in [ana, bo] { client.connect() }
        let conversation = try await ana.newConversation(with: ["bo"]).id
        for text in texts { try await ana.send([.text(text)], to: conversation) }
        try await eventually("bo has all, and nothing waits") {
            guard try await bo.texts(in: conversation) == texts else { return false }
            return try await bo.rowCount(of: "outbox") == 0
        }
        let shown = Locked(ResultSet<Message>())
        let reader = Task {
            let query = Query<Message>(where: { $0.conversation == conversation })
            for try await set in bo.results(query) { shown.withLock { $0 = set } }
        }
        let names = Locked<[ObjectChange.Kind]>([])
        let changes = bo.changes
        let watcher = Task {
            for await commit in changes {
                names.withLock { $0 += commit.map(\.kind) }
            }
        }
        if !isConnected { await bo.disconnect() }
        let read = try await bo.messages(in: conversation).prefix(2).map(\.id)
        // The receipts wait, or are on their way while the conversation is merged.
        try await bo.markAsRead(Set(read))
        let unsent = try await bo.send([.text("waits")], to: conversation)
        try await server.request(.post, "/import", lines, type: "application/jsonl")
        bo.connect()
        try await bo.waitUntilSent(unsent.id)
        let all = Set(texts + imported + ["waits"])
        try await eventually("the live query goes on with all messages") {
            Set(shown.withLock { $0 }.elements.compactMap(\.parts.first?.text)) == all
        }
        for client in [ana, bo] {
            try await eventually("both ids find one conversation, and nothing waits") {
                let conversations = try await client.conversations()
                guard conversations.count == 1, try await client.rowCount(of: "outbox") == 0,
                    try await client.conversation(conversation)?.id == conversations[0].id
                else { return false }
                return try await client.conversation(former)?.id == conversations[0].id
            }
        }
        try await eventually("ana sees what bo has read, and only that") {
            let statuses = try await ana.messages(in: conversation).map { message in
                (message.parts.first?.text ?? "", message.status(of: "bo"))
            }
            return statuses.allSatisfy { text, status in
                (status == .read) == (["one", "two", "waits"].contains(text))
            }
        }
        #expect(try await bo.conversation(conversation)?.unreadCount == 3)
        // Which of both remains is up to the server.
        if try await bo.conversation(conversation)?.id != conversation {
            #expect(
                names.withLock { $0 }.contains(
                    .renamed(from: .conversation(conversation))))
        }
        watcher.cancel()
        reader.cancel()
        for client in [ana, bo] { await client.close() }
    }
}
