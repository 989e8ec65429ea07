import FoundationEssentials
import Glibc
import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// Commands, and what waits in the outbox.
@Suite(.timeLimit(.minutes(10))) struct OutboxTests {
    /// A client without a server that has a session, in a folder.
    private func offlineClient(_ folder: TemporaryFolder) async throws -> ParleyClient {
        let client = try await openClient(
            Configuration(
                server: URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/"),
                application: KitServer.application, store: URL(filePath: "\(folder.path)/store"),
                sessionToken: "token", of: "ana"))
        try await client.authenticate()
        return client
    }

    @Test func `commands that wait are combined (K34)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        for number in 1...4 {
            try await ana.waitUntilSent(
                try await ana.send([.text("\(number)")], to: conversation).id)
        }
        try await bo.catchUp(within: .seconds(120))
        try await eventually("bo has all") { try await bo.texts(in: conversation).count == 4 }
        // One row reports what has arrived.
        #expect(try await bo.rowCount(of: "outbox") == 1)
        let messages = try await bo.messages(in: conversation)
        try await bo.markAsRead([messages[0].id])
        try await bo.markAsRead([messages[1].id, messages[2].id])
        #expect(try await bo.rowCount(of: "outbox") == 2)
        try await bo.follow(["cy", "dan"])
        try await bo.unfollow(["cy"])
        try await bo.follow(["cy"])
        #expect(try await bo.rowCount(of: "outbox") == 4)
        bo.connect()
        try await eventually("ana sees three read") {
            try await ana.messages(in: conversation).map { $0.status(of: "bo") }
                == [.read, .read, .read, .delivered]
        }
        try await eventually("nothing waits") { try await bo.rowCount(of: "outbox") == 0 }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `changes of a conversation are one request in order, behind messages another (K34)`()
        async throws
    {
        let server = try KitServer()
        let configuration = server.configuration("ana")
        let transport = HeldTransport(base: try openTransport(configuration))
        let ana = try await ParleyClient(configuration, transport)
        try await ana.authenticate()
        let bo = try await server.client("bo")
        bo.connect()
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("Hello")], to: conversation)
        try await bo.waitFor(.message(first.id), within: .seconds(120))
        try await eventually("nothing waits") { try await ana.rowCount(of: "outbox") == 0 }
        transport.answers.close()
        try await ana.setMetadata("on its way", at: "a", of: conversation)
        try await eventually("the first write is on its way") {
            transport.count(of: "PATCH") == 1
        }
        try await ana.setMetadata("1", at: "a", of: conversation)
        try await ana.setMetadata("2", at: "a", of: conversation)
        try await ana.add(["cy"], to: conversation)
        try await ana.deleteMetadata(at: ["b"], of: conversation)
        try await ana.remove(["cy"], from: conversation)
        #expect(try await ana.rowCount(of: "outbox") == 2)
        try await ana.send([.text("between")], to: conversation)
        try await ana.setMetadata("3", at: "b", of: conversation)
        #expect(try await ana.rowCount(of: "outbox") == 4)
        transport.answers.open()
        try await eventually("nothing waits") { try await ana.rowCount(of: "outbox") == 0 }
        #expect(transport.count(of: "PATCH") == 3)
        for client in [ana, bo] {
            try await eventually("both have the last state") {
                let shown = try await client.conversation(conversation)
                return shown?.metadata == ["a": "2", "b": "3"]
                    && shown?.participants.map(\.id).sorted() == ["ana", "bo"]
            }
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `a message on its way is deleted for all after it was discarded (K34)`()
        async throws
    {
        let server = try KitServer()
        let configuration = server.configuration("ana")
        let transport = HeldTransport(base: try openTransport(configuration))
        let ana = try await ParleyClient(configuration, transport)
        try await ana.authenticate()
        let bo = try await server.client("bo")
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("first")], to: conversation).id)
        // Neither the answer nor the feed says that the server has it.
        for gate in [transport.answers, transport.feed] { gate.close() }
        let message = try await ana.send([.text("discarded")], to: conversation)
        try await eventually("bo has it") { try await bo.message(message.id) != nil }
        #expect(try await ana.message(message.id)?.delivery == .sending)
        try await ana.discard(message.id)
        #expect(try await ana.texts(in: conversation) == ["first"])
        for gate in [transport.answers, transport.feed] { gate.open() }
        try await eventually("bo has lost it") { try await bo.message(message.id) == nil }
        try await eventually("nothing waits") { try await ana.rowCount(of: "outbox") == 0 }
        #expect(try await ana.texts(in: conversation) == ["first"])
        for client in [ana, bo] { await client.close() }
    }

    @Test func `only a message that has failed is sent again`() async throws {
        let folder = TemporaryFolder()
        let ana = try await offlineClient(folder)
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let bytes = Data(repeating: 1, count: 5000)
        let message = try await ana.send([.data(bytes, mimeType: "a/b")], to: conversation)
        try await ana.store.write { transaction in
            try transaction.sql.execute("/* test */ UPDATE parts SET status = 1, held = 4000")
        }
        await #expect { try await ana.retry(message.id) } throws: { error in
            (error as? ParleyError)?.code == .messageGone
        }
        let held = try await ana.store.read { sql in
            try StoreTransaction(sql).uploads(of: message.id).map(\.state.held)
        }
        #expect(held == [4000])
        let error = ParleyError(.tooLarge, "too large")
        try await ana.store.write { transaction in
            try transaction.sql.execute("/* test */ UPDATE outbox SET failure = \(error.stored)")
        }
        try await ana.retry(message.id)
        #expect(try await ana.message(message.id)?.delivery == .queued)
        await ana.close()
    }

    @Test func `invalid messages and conversations are refused and leave nothing (K36, K26)`()
        async throws
    {
        let folder = TemporaryFolder()
        let ana = try await offlineClient(folder)
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let rows = try await ana.rowCount(of: "outbox", "messages", "conversations")
        let large = URL(filePath: "\(folder.path)/large")
        #expect(FileManager.default.createFile(atPath: large.path, contents: nil))
        #expect(truncate(large.path, off_t(1) << 31 + 1) == 0)
        let invalid: [([PartDraft], ParleyError.Code)] = [
            ([], .invalidMessage),
            (Array(repeating: .text("x"), count: 1001), .invalidMessage),
            ([.data(Data([1]), mimeType: "text")], .invalidMimeType),
            ([.data(Data([1]), mimeType: "/plain")], .invalidMimeType),
            ([.text("x"), .data(Data([1]), mimeType: "text/")], .invalidMimeType),
            ([.file(large, mimeType: "a/b", keepsOriginal: false)], .tooLarge),
        ]
        for (parts, code) in invalid {
            await #expect { try await ana.send(parts, to: conversation) } throws: { error in
                (error as? ParleyError)?.code == code
            }
        }
        #expect(FileManager.default.fileExists(atPath: large.path))
        try await ana.send(Array(repeating: .text("x"), count: 1000), to: conversation)
        let users = (1...24).map { number in UserID("u\(number)") }
        await #expect { try await ana.newConversation(with: Set(users + ["x", "y"])) } throws: {
            ($0 as? ParleyError)?.code == .tooManyParticipants
        }
        let full = try await ana.newConversation(with: Set(users)).id
        await #expect { try await ana.add(["x"], to: full) } throws: { error in
            (error as? ParleyError)?.code == .tooManyParticipants
        }
        #expect(
            try await ana.rowCount(of: "outbox", "messages", "conversations") == rows + 2 + 2)
        #expect(try await ana.transferCenter.folder.files().complete.isEmpty)
        await ana.close()
    }

    @Test func `metadata outside the limits is refused (K50, K52)`() async throws {
        let folder = TemporaryFolder()
        let ana = try await offlineClient(folder)
        let conversation = try await ana.newConversation(
            with: ["bo"], ConversationOptions(metadata: ["a": "b"])
        ).id
        let rows = try await ana.rowCount(of: "outbox")
        func nested(_ levels: Int) -> Metadata {
            (0..<levels).reduce("x") { value, _ in .object(["k": value]) }
        }
        let text = String(repeating: "x", count: 2048)
        let tree = Metadata.object(
            Dictionary(uniqueKeysWithValues: (0..<130).map { ("\($0)", .text(text)) }))
        for value in [.text(text + "x"), .object(["a b": "c"]), .object(["": "c"]), tree]
            as [Metadata]
        {
            await #expect { try await ana.setMetadata(value, at: "a", of: conversation) } throws: {
                ($0 as? ParleyError)?.code == .invalidMetadata
            }
        }
        for value in [.text("x"), nested(34), tree] as [Metadata] {
            await #expect {
                try await ana.setMetadata(value, merge: false, of: conversation)
            } throws: { error in (error as? ParleyError)?.code == .invalidMetadata }
        }
        for path in ["", "a..b", "a b", ".", "ä"] {
            await #expect {
                try await ana.deleteMetadata(
                    at: [MetadataPath(stringLiteral: path)], of: conversation)
            } throws: { error in (error as? ParleyError)?.code == .invalidMetadata }
        }
        #expect(try await ana.rowCount(of: "outbox") == rows)
        #expect(try await ana.conversation(conversation)?.metadata == ["a": "b"])
        try await ana.setMetadata(nested(33), merge: false, of: conversation)
        try await ana.setMetadata(.text(text), at: "a", of: conversation)
        #expect(try await ana.conversation(conversation)?.metadata["a"] == .text(text))
        await ana.close()
    }

    @Test func `others see a conversation with its first message (K22)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await eventually("the server has it") {
            try await ana.conversation(conversation)?.isCreated == true
        }
        try await eventually("nothing waits") { try await ana.rowCount(of: "outbox") == 0 }
        try await bo.catchUp(within: .seconds(120))
        #expect(try await bo.conversation(conversation) == nil)
        try await ana.send([.text("Hello")], to: conversation)
        try await eventually("bo sees it") {
            try await bo.conversation(conversation)?.lastMessage?.parts.first?.text == "Hello"
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `the last write of a key at the server counts, not the clock of a device (K51)`()
        async throws
    {
        let server = try KitServer()
        let (phone, tablet) = (
            try await server.client("ana"), try await server.client("ana", device: "tablet")
        )
        phone.connect()
        tablet.connect()
        let conversation = try await phone.newConversation(with: ["bo"]).id
        let first = try await phone.send([.text("Hello")], to: conversation)
        try await tablet.waitFor(.message(first.id), within: .seconds(120))
        await tablet.disconnect()
        try await tablet.setMetadata("Monday", at: "day", of: conversation)
        try await tablet.setMetadata("tablet", at: "by.name", of: conversation)
        try await phone.setMetadata("Tuesday", at: "day", of: conversation)
        try await phone.setMetadata("yes", at: "by.phone", of: conversation)
        try await eventually("Tuesday is written") {
            try await phone.rowCount(of: "outbox") == 0
        }
        tablet.connect()
        let expected: Metadata = ["day": "Monday", "by": ["name": "tablet", "phone": "yes"]]
        for client in [phone, tablet] {
            try await eventually("Monday's write, sent on Wednesday, is the last one") {
                try await client.conversation(conversation)?.metadata == expected
            }
        }
        for client in [phone, tablet] { await client.close() }
    }

    @Test func `pending writes are applied to what others have changed (K53)`() async throws {
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
        try await eventually("nothing waits") { try await ana.rowCount(of: "outbox") == 0 }
        transport.answers.close()
        try await ana.setMetadata("mine", at: "shared", of: conversation)
        try await eventually("ana's write is at the server") {
            try await bo.conversation(conversation)?.metadata == ["shared": "mine"]
        }
        // The answer is held back, so this write is pending whatever the feed shows.
        try await ana.setMetadata("later", at: "pending", of: conversation)
        try await bo.setMetadata("theirs", at: "pending", of: conversation)
        try await bo.setMetadata("new", at: "other", of: conversation)
        try await eventually("the new key appears, and the pending one stays") {
            try await ana.conversation(conversation)?.metadata["other"] == "new"
        }
        #expect(try await ana.conversation(conversation)?.metadata["pending"] == "later")
        transport.answers.open()
        for client in [ana, bo] {
            try await eventually("ana's later write is the last one") {
                try await client.conversation(conversation)?.metadata
                    == ["shared": "mine", "pending": "later", "other": "new"]
            }
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `metadata before the creation is part of it, and changes name each text (K54)`()
        async throws
    {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        let conversation = try await ana.newConversation(
            with: ["bo"], ConversationOptions(metadata: ["topic": "rent"])
        ).id
        var changes = ana.changes.makeAsyncIterator()
        try await ana.setMetadata(["b": "1", "c": "2"], at: "a", of: conversation)
        let named = try #require(await changes.next()).map(\.kind)
        #expect(
            named == [.updated(property: "metadata.a.b"), .updated(property: "metadata.a.c")])
        try await ana.setMetadata("3", at: "a.b", of: conversation)
        try await ana.deleteMetadata(at: ["a.c", "topic"], of: conversation)
        try await ana.send([.text("Hello")], to: conversation)
        try await ana.setMetadata("4", at: "d", of: conversation)
        #expect(try await ana.rowCount(of: "outbox") == 2)
        // A distinct conversation without metadata accepts those of an existing one.
        let plain = try await ana.newConversation(with: ["cy"]).id
        try await ana.setMetadata("1", at: "a", of: plain)
        #expect(try await ana.rowCount(of: "outbox") == 4)
        try await ana.delete(plain, .myDevices)
        for client in [ana, bo] { client.connect() }
        try await eventually("bo sees the last state") {
            try await bo.conversation(conversation)?.metadata == ["a": ["b": "3"], "d": "4"]
        }
        for client in [ana, bo] { await client.close() }
    }
}
