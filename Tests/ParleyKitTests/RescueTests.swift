import FoundationEssentials
import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// Stores whose database is damaged.
@Suite(.timeLimit(.minutes(10))) struct RescueTests {
    @Test func `the commands of a damaged store reach the server from a new one, once (K20)`()
        async throws
    {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("first")], to: conversation).id
        try await bo.waitFor(.message(first), within: .seconds(60))
        let answer = try await bo.send([.text("answer")], to: conversation).id
        try await ana.waitFor(.message(answer), within: .seconds(60))
        try await ana.waitUntilSent(first)
        await ana.disconnect()
        let large = Data(repeating: 7, count: 5000)
        try await ana.send([.text("second")], to: conversation)
        let sent = try await ana.send([.data(large, mimeType: "a/b")], to: conversation)
        try await ana.setMetadata("rent", at: "topic", of: conversation)
        try await ana.markAsRead([answer])
        let other = try await ana.newConversation(with: ["cy"]).id
        try await ana.send([.text("to cy")], to: other)
        let page = try await ana.read { reader in
            try reader.transaction.first(
                "SELECT rootpage FROM sqlite_master WHERE name = 'conversations'"
            ) { row in try row.int("rootpage") }
        }
        await ana.close()
        let configuration = server.configuration("ana")
        try overwrite([try #require(page)], of: configuration.store.path)
        await #expect {
            let damaged = try await openClient(configuration)
            let found = await Task { try await damaged.conversation(conversation) }.result
            await damaged.close()
            _ = try found.get()
        } throws: { error in (error as? ParleyError)?.code == .storeCorrupt }
        #expect(try await ParleyClient.rescue(store: configuration.store) == 6)
        let rescued = try await openClient(configuration)
        #expect(try await rescued.user == "ana")
        #expect(try await rescued.texts(in: other) == ["to cy"])
        rescued.connect()
        try await eventually("bo has all, and ana's mark", within: .seconds(60)) {
            let (texts, shown) = (
                try await bo.texts(in: conversation), try await bo.conversation(conversation)
            )
            let status = try await bo.message(answer)?.status(of: "ana")
            return texts == ["first", "answer", "second", ""] && status == .read
                && shown?.metadata == ["topic": "rent"]
        }
        let part = try #require(try await bo.message(sent.id)?.parts.first)
        try await bo.download(part.id).wait()
        #expect(try await bo.content(of: part.id)?.data() == large)
        try await eventually("nothing waits", within: .seconds(60)) {
            try await rescued.rowCount(of: "outbox") == 0
        }
        #expect(try await rescued.texts(in: conversation) == ["first", "answer", "second", ""])
        #expect(try await rescued.conversation(conversation)?.unreadCount == 0)
        for client in [rescued, bo] { await client.close() }
    }

    @Test func `what is left after any damage is in order, and complete (K20, K69)`() async throws {
        let folder = TemporaryFolder()
        let store = URL(filePath: "\(folder.path)/store")
        let client = try await offlineClient(store)
        let conversation = try await client.newConversation(with: ["bo"]).id
        let texts = (0..<40).map { number in "\(number) " + String(repeating: "x", count: 900) }
        for text in texts { try await client.send([.text(text)], to: conversation) }
        await client.close()
        let path = Store.database(in: store.path)
        let sound = try Data(contentsOf: URL(filePath: path))
        let pages = sound.count / 4096
        var kept: [Int] = []
        for step in 0..<8 {
            try sound.write(to: URL(filePath: path))
            if step < 6 {
                try overwrite([1 + step * pages / 6], of: store.path)
            } else {
                try sound.prefix(step == 6 ? sound.count / 2 : 5000).write(
                    to: URL(filePath: path))
            }
            let count = try await ParleyClient.rescue(store: store)
            let rescued = try await offlineClient(store)
            let left = try await rescued.texts(in: conversation)
            #expect(left == texts.filter(left.contains), "step \(step)")
            kept.append(count)
            await rescued.close()
        }
        // Without its first page it is no database; damage to one other page leaves most.
        #expect(kept[0] == 0)
        #expect((kept[1...5].max() ?? 0) > 30, "\(kept)")
    }

    @Test func `a newer store stays as it is, and a rescue that was interrupted ends (K20)`()
        async throws
    {
        let folder = TemporaryFolder()
        let store = URL(filePath: "\(folder.path)/store")
        let client = try await offlineClient(store)
        try await client.newConversation(with: ["bo"])
        let rows = try await client.rowCount(of: "outbox")
        await client.close()
        let path = Store.database(in: store.path)
        // The process ends after the new database is complete.
        try FileManager.default.copyItem(atPath: path, toPath: "\(store.path)/rescued.sqlite")
        try Data(repeating: 0x55, count: 9000).write(to: URL(filePath: path))
        let again = try await offlineClient(store)
        #expect(try await again.rowCount(of: "outbox") == rows)
        try await again.store.write { transaction in
            try transaction.sql.execute(
                "INSERT INTO schema_migrations (number, name, applied_at) VALUES (99, 'later', 0)")
        }
        await again.close()
        let before = try Data(contentsOf: URL(filePath: path))
        await #expect {
            _ = try await offlineClient(store)
        } throws: { error in (error as? ParleyError)?.code == .storeTooNew }
        await #expect {
            _ = try await ParleyClient.rescue(store: store)
        } throws: { error in (error as? ParleyError)?.code == .storeTooNew }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    /// A client without a server that has a session.
    private func offlineClient(_ store: URL) async throws -> ParleyClient {
        let client = try await openClient(
            Configuration(
                server: URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/"),
                application: KitServer.application, store: store, sessionToken: "token", of: "ana"))
        try await client.authenticate()
        return client
    }

    /// Overwrites pages of a database, which are counted from 1.
    private func overwrite(_ pages: [Int], of folder: String) throws {
        let url = URL(filePath: Store.database(in: folder))
        var bytes = try Data(contentsOf: url)
        for page in pages {
            bytes.replaceSubrange(
                (page - 1) * 4096..<page * 4096, with: Data(repeating: 0x55, count: 4096))
        }
        try bytes.write(to: url)
    }
}
